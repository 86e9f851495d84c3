/** Addresses of wallets and token contracts by id, read in batches in id order. */
import type { Db, Statement } from '../store/open-database.ts';

/** Addresses cached, some 60 MB. */
const MAX_ADDRESSES = 400_000;

export class AddressBook {
  private readonly wallets = new Map<number, string>();
  private readonly tokens = new Map<number, string>();
  private readonly selectWallets: Statement<[string], [number, string]>;
  private readonly selectTokens: Statement<[string], [number, string]>;

  constructor(db: Db) {
    this.selectWallets = db
      .prepare<[string], [number, string]>(/* sql */ `
        SELECT w.id, '0x' || lower(hex(w.address)) FROM json_each(?) list CROSS JOIN wallets w ON w.id = list.value`)
      .raw();
    this.selectTokens = db
      .prepare<[string], [number, string]>(/* sql */ `
        SELECT t.id, '0x' || lower(hex(w.address)) FROM json_each(?) list
        CROSS JOIN tokens t ON t.id = list.value CROSS JOIN wallets w ON w.id = t.wallet`)
      .raw();
  }

  /** Addresses of wallets, in the order of the ids. */
  walletsOf(ids: readonly number[]): string[] {
    return lookUp(this.wallets, this.selectWallets, ids);
  }

  /** Contract addresses of tokens by `tokens.id`, in the order of the ids. */
  tokensOf(ids: readonly number[]): string[] {
    return lookUp(this.tokens, this.selectTokens, ids);
  }
}

function lookUp(
  known: Map<number, string>,
  select: Statement<[string], [number, string]>,
  ids: readonly number[],
): string[] {
  if (known.size > MAX_ADDRESSES) known.clear();
  const missing = [...new Set(ids.filter((id) => !known.has(id)))].sort((a, b) => a - b);
  if (missing.length > 0)
    for (const [id, address] of select.all(`[${missing.join()}]`)) known.set(id, address);
  return ids.map((id) => known.get(id) ?? '');
}

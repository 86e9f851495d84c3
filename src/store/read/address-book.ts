/**
 * The addresses of wallets and token contracts by id. The rows of a block's wallets are scattered over the largest
 * table, so looking an address up costs as much as the rest of a transfer; most were needed a moment before.
 */
import type { Db, Statement } from '../open-database.ts';
import { DamageError } from '../storage-error.ts';
import { idList } from './id-list.ts';
import type { StoredTransfer } from './transfers.ts';

export interface AddressBookOptions {
  /** Most addresses to keep, powers of two; each takes up to 80 bytes. */
  wallets: number;
  tokens: number;
  /** What precedes the 40 hex digits of an address; nothing by default. */
  prefix?: '0x';
}

/**
 * Load ids, then ask for their addresses. A rollback frees the ids above those it keeps for other wallets and tokens:
 * call `rollback` before the next `load`.
 */
export class AddressBook {
  readonly wallets: AddressCache;
  /** Contract addresses by tokens.id. */
  readonly tokens: AddressCache;
  private readonly missingPrefix: string;

  constructor(db: Db, { wallets, tokens, prefix }: AddressBookOptions) {
    const address = `'${prefix ?? ''}' || lower(hex(w.address)) AS address`;
    this.missingPrefix = prefix === undefined ? '0x' : '';
    this.wallets = new AddressCache(
      'wallet',
      db.prepare(/* sql */ `
        SELECT w.id, ${address} FROM json_each(?) list CROSS JOIN wallets w ON w.id = list.value`),
      wallets,
    );
    this.tokens = new AddressCache(
      'token',
      db.prepare(/* sql */ `
        SELECT k.id, ${address} FROM json_each(?) list CROSS JOIN tokens k ON k.id = list.value
          CROSS JOIN wallets w ON w.id = k.wallet`),
      tokens,
    );
  }

  /** Loads the addresses of these transfers, and of other wallets; they stay until the next load. */
  load(transfers: readonly StoredTransfer[], others: readonly number[] = []): void {
    const wallets = new Array<number>(2 * transfers.length);
    const tokens: number[] = [];
    let filled = 0;
    for (const { sender, receiver, token } of transfers) {
      wallets[filled++] = sender;
      wallets[filled++] = receiver;
      if (token !== 0) tokens.push(token);
    }
    for (const wallet of others) wallets.push(wallet);
    this.wallets.load(wallets);
    this.tokens.load(tokens);
  }

  /** An address of this book with its prefix. */
  hex(address: string): string {
    return this.missingPrefix + address;
  }

  /** Forgets what a rollback to a block that ends with this wallet may have removed; by default everything. */
  rollback(lastWallet = -1): void {
    this.wallets.forgetAbove(lastWallet);
    this.tokens.forgetAbove(0);
  }
}

/**
 * Ids are dense, so their low bits spread evenly: each id has the slot `id % size`, and a newer id evicts an older one.
 */
class AddressCache {
  private readonly what: string;
  private readonly readAll: Statement<[string], { id: number; address: string }>;
  /** Allocated by the first load: many queries need no address, and these take as long as loading thousands. */
  private ids = new Float64Array(0);
  private addresses: string[] = [];
  /** Addresses of one load whose slots another id of that load took. */
  private readonly displaced = new Map<number, string>();
  private readonly mask: number;

  /** `readAll` returns id and address for a list of ids. `slots` is a power of two. */
  constructor(what: string, readAll: Statement<[string], { id: number; address: string }>, slots: number) {
    this.what = what;
    this.readAll = readAll;
    this.mask = slots - 1;
  }

  /** Loads the missing ids. `of` then knows all of `ids` until the next call. */
  load(ids: readonly number[]): void {
    const { displaced, mask } = this;
    displaced.clear();
    if (this.ids.length === 0) {
      this.ids = new Float64Array(mask + 1).fill(-1);
      this.addresses = new Array<string>(mask + 1).fill('');
    }
    const missing = new Set<number>();
    for (const id of ids) if (this.ids[id & mask] !== id) missing.add(id);
    if (missing.size === 0) return;
    const inFileOrder = [...missing].sort((a, b) => a - b);
    let wanted: ReadonlySet<number> | null = null;
    for (const { id, address } of this.readAll.all(idList(inFileOrder))) {
      const slot = id & mask;
      const holder = this.ids[slot]!;
      if (holder >= 0) wanted ??= new Set(ids);
      if (wanted?.has(holder)) displaced.set(id, address);
      else {
        this.ids[slot] = id;
        this.addresses[slot] = address;
      }
    }
  }

  /** The address of a single id, loaded if need be. */
  read(id: number): string {
    if (this.find(id) === undefined) this.load([id]);
    return this.of(id);
  }

  /** The address of a loaded id, undefined when the index has no row of that id. */
  find(id: number): string | undefined {
    const slot = id & this.mask;
    return this.ids[slot] === id ? this.addresses[slot] : this.displaced.get(id);
  }

  /** The address of a loaded id. Throws DamageError when the index has no row of that id. */
  of(id: number): string {
    const address = this.find(id);
    if (address === undefined)
      throw new DamageError(`the index refers to ${this.what} ${id}, which has no row`);
    return address;
  }

  forgetAbove(last: number): void {
    for (let slot = 0; slot < this.ids.length; slot++) if (this.ids[slot]! > last) this.ids[slot] = -1;
    this.displaced.clear();
  }
}

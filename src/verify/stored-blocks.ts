/** Reads stored blocks back into batches, as a backfill worker delivers them. */
import { BatchBuilder } from '../decode/batch.ts';
import { bytesToHex } from '../lib/hex.ts';
import type { BlockBatch } from '../model/block-batch.ts';
import { TransferKind } from '../model/transfer-kind.ts';
import { hashAt, readLastBlock } from '../store/chain.ts';
import type { Db, Statement } from '../store/open-database.ts';
import { DamageError } from '../store/storage-error.ts';

interface Row {
  id: number;
  tx: Buffer | number;
  sender: number;
  receiver: number;
  kind: number;
  token: number | null;
  amount: Buffer | null;
  token_number: Buffer | null;
  log_index: number | null;
}

/** Most addresses to cache, about 10 MB. */
const MAX_CACHED = 100_000;

/** Addresses by the ids of wallets and tokens, as 40 hex digits. */
class Addresses {
  private readonly ofWallet: Statement<[number], Buffer>;
  private readonly walletOfToken: Statement<[number], number>;

  constructor(db: Db) {
    this.ofWallet = db.prepare<[number], Buffer>('SELECT address FROM wallets WHERE id = ?').pluck();
    this.walletOfToken = db.prepare<[number], number>('SELECT wallet FROM tokens WHERE id = ?').pluck();
  }

  wallet(id: number): string | null {
    const address = this.ofWallet.get(id);
    return address === undefined ? null : bytesToHex(address).slice(2);
  }

  token(id: number): string | null {
    const wallet = this.walletOfToken.get(id);
    return wallet === undefined ? null : this.wallet(wallet);
  }
}

export class StoredBlocks {
  private readonly db: Db;
  private readonly rows: Statement<[number, number], Row>;
  /** The rebuilt file comes first, because in the damaged one the addresses of a changed block may be wrong. */
  private readonly addresses: readonly Addresses[];
  private readonly cache = new Map<string, string>();

  /** Reads blocks of `db`. `rebuilt` contains all blocks before the first one to read. */
  constructor(db: Db, rebuilt: Db) {
    this.db = db;
    this.addresses = [new Addresses(rebuilt), new Addresses(db)];
    this.rows = db.prepare(/* sql */ `
      SELECT id, tx, sender, receiver, kind, token, amount, token_number, log_index
      FROM transfers WHERE id > ? AND id <= ? ORDER BY id`);
  }

  /** Blocks `from..to`, whose checksums are valid, with at most this many transfers, but at least one block. */
  read(from: number, to: number, transfers: number, traced: boolean): BlockBatch {
    const out = new BatchBuilder();
    for (let number = from; number <= to && out.transferCount <= transfers; number++) this.add(out, number);
    return out.finish(traced);
  }

  private add(out: BatchBuilder, number: number): void {
    const tip = readLastBlock(this.db, number);
    if (tip?.number !== number) throw new DamageError(`block ${number} is missing`);
    const before = readLastBlock(this.db, number - 1);
    for (const row of this.rows.iterate(before?.lastTransfer ?? 0, tip.lastTransfer)) {
      if (Buffer.isBuffer(row.tx)) out.beginTransaction(bytesToHex(row.tx));
      const amount = row.kind === TransferKind.erc721 ? '' : hexDigits(row.amount);
      out.push(
        row.kind,
        this.address('wallet', row.sender),
        this.address('wallet', row.receiver),
        row.token === null ? '' : this.address('token', row.token),
        row.log_index ?? -1,
        amount,
        0,
        amount.length,
        hexDigits(row.token_number),
      );
    }
    out.endBlock(number, tip.hash, hashAt(this.db, number - 1) ?? `0x${'00'.repeat(32)}`, tip.timestamp);
  }

  private address(what: 'wallet' | 'token', id: number): string {
    const key = `${what} ${id}`;
    const known = this.cache.get(key);
    if (known !== undefined) return known;
    const found = this.addresses[0]?.[what](id) ?? this.addresses[1]?.[what](id);
    if (found === null || found === undefined) throw new DamageError(`${key} has no row`);
    if (this.cache.size === MAX_CACHED) this.cache.clear();
    this.cache.set(key, found);
    return found;
  }
}

/** The digits of an integer without prefix. */
function hexDigits(bytes: Buffer | null): string {
  return bytes === null ? '' : bytesToHex(bytes).slice(2);
}

/** Reading the index as one commit left it, in short transactions beside the writer. */
import { bytesToHex } from '../lib/hex.ts';
import type { Db } from '../store/open.ts';
import type { BlockRef, Hex } from '../types.ts';

/** Where the index ended at a moment. */
export interface Tip extends BlockRef {
  /** Highest ids at that block; 0 if none. */
  lastTransfer: number;
  lastWallet: number;
}

/** Runs reads that all see the same commit. They should be over soon: a checkpoint waits for them. */
export function atOneCommit<T>(db: Db, read: () => T): T {
  return db.transaction(read).deferred();
}

/** The last indexed block, or the last one at or below `upTo`; null while there is none. */
export function tipOf(db: Db, upTo = Number.MAX_SAFE_INTEGER): Tip | null {
  const row = db
    .prepare<[number], { number: number; hash: Buffer; last_transfer: number; last_wallet: number }>(
      'SELECT number, hash, last_transfer, last_wallet FROM blocks WHERE number <= ? ORDER BY number DESC LIMIT 1',
    )
    .get(upTo);
  if (row === undefined) return null;
  return {
    number: row.number,
    hash: bytesToHex(row.hash),
    lastTransfer: row.last_transfer,
    lastWallet: row.last_wallet,
  };
}

/** Hash of an indexed block, null when it is not in the index. */
export function indexedHash(db: Db, number: number): Hex | null {
  const hash = db.prepare<[number], Buffer>('SELECT hash FROM blocks WHERE number = ?').pluck().get(number);
  return hash ? bytesToHex(hash) : null;
}

/** The block that a transfer is in. */
export function blockOfTransfer(db: Db, id: number): number | null {
  const number = db
    .prepare<[number], number>(
      'SELECT number FROM blocks WHERE last_transfer >= ? ORDER BY last_transfer, number LIMIT 1',
    )
    .pluck()
    .get(id);
  return number ?? null;
}

/** Address of a wallet as `0x` text, for messages. */
export function addressOf(db: Db, wallet: number): string {
  const address = db
    .prepare<[number], Buffer>('SELECT address FROM wallets WHERE id = ?')
    .pluck()
    .get(wallet);
  return address ? bytesToHex(address) : `wallet ${wallet}, which has no row`;
}

/** Reading the index as one commit left it, in short transactions while the writer goes on. */
import { bytesToHex } from '../lib/hex.ts';
import type { Db } from '../store/open-database.ts';

/** Runs reads that all see the same commit. Keep them short: a checkpoint waits for them. */
export function inReadTransaction<T>(db: Db, read: () => T): T {
  return db.transaction(read).deferred();
}

/** Address of a wallet as `0x` text, for messages. */
export function describeWallet(db: Db, wallet: number): string {
  const address = db
    .prepare<[number], Buffer>('SELECT address FROM wallets WHERE id = ?')
    .pluck()
    .get(wallet);
  return address ? bytesToHex(address) : `wallet ${wallet}, which has no row`;
}

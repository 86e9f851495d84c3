/** Reading the index as one commit left it, in short transactions while the writer goes on, and reads that checks share. */
import { bytesToHex } from '../lib/hex.ts';
import type { Db } from '../store/open-database.ts';
import type { Hex } from '../types.ts';

/** Runs reads that all see the same commit. Keep them short: a checkpoint waits for them. */
export function inReadTransaction<T>(db: Db, read: () => T): T {
  return db.transaction(read).deferred();
}

/** Address of a wallet, null when it has no row. */
export function walletAddress(db: Db, wallet: number): Hex | null {
  const address = db
    .prepare<[number], Buffer>('SELECT address FROM wallets WHERE id = ?')
    .pluck()
    .get(wallet);
  return address ? bytesToHex(address) : null;
}

/** Address of a wallet for messages. */
export function describeWallet(db: Db, wallet: number): string {
  return walletAddress(db, wallet) ?? `wallet ${wallet}, which has no row`;
}

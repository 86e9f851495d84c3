/** Scanning newly committed rows cheaply: only ids are read. */
import type { Db } from '../store/open-database.ts';

/** A transfer in ids of `wallets`; `contract` is the token's, null for a native transfer. */
export interface ScannedTransfer {
  id: number;
  sender: number;
  receiver: number;
  contract: number | null;
}

/** The transfers with ids `from <= id < below`, `limit` at most, in order. */
export function prepareTransferScan(
  db: Db,
): (from: number, below: number, limit: number) => ScannedTransfer[] {
  const statement = db.prepare<[number, number, number], ScannedTransfer>(/* sql */ `
    SELECT id, sender, receiver, (SELECT wallet FROM tokens WHERE tokens.id = token) AS contract
    FROM transfers WHERE id >= +? AND id < +? ORDER BY id LIMIT +?`);
  return (from, below, limit) => statement.all(from, below, limit);
}

/** A wallet and its address, hex digits without prefix. */
export interface NewWallet {
  id: number;
  address: string;
}

/** The wallets with ids above `after` and up to `last`, `limit` at most, in order. */
export function prepareWalletsAfter(db: Db): (after: number, last: number, limit: number) => NewWallet[] {
  const statement = db.prepare<[number, number, number], NewWallet>(/* sql */ `
    SELECT id, lower(hex(address)) AS address FROM wallets WHERE id > +? AND id <= +? ORDER BY id LIMIT +?`);
  return (after, last, limit) => statement.all(after, last, limit);
}

/** One wallet's transfers of one token. */

import { isNativeKind } from '../model/transfer-kind.ts';
import type { Db } from '../store/open-database.ts';
import { STORED_TRANSFER, type StoredTransfer } from '../store/schema.ts';
import { HistoryCursor, HistoryFlag } from '../store/wallet-history.ts';
import { type TransferRow, toTransferRow } from './transfer-row.ts';

/** Most transfers of a wallet, of any kind, to search. */
const MAX_ENTRIES = 20_000;

/** The transfers in chain order; null when the wallet has too many to search. */
export function walletTokenTransfers(db: Db, wallet: number, token: number): TransferRow[] | null {
  const row = db
    .prepare<[number], { transfers: number; base: number; recent: Buffer }>(
      'SELECT transfers, ifnull(first_transfer, 0) AS base, recent FROM wallets WHERE id = ?',
    )
    .get(wallet);
  if (row === undefined || row.transfers > MAX_ENTRIES) return null;
  const pages = db
    .prepare<[number], Buffer>('SELECT entries FROM activity WHERE wallet = ? ORDER BY first_transfer')
    .pluck()
    .all(wallet);
  const transfer = db.prepare<[number, number], StoredTransfer>(
    `SELECT ${STORED_TRANSFER} FROM transfers WHERE id = ? AND token = ?`,
  );
  const rows: TransferRow[] = [];
  const cursor = new HistoryCursor();
  for (const page of [...pages, row.recent]) {
    cursor.open(page, row.base);
    while (cursor.next()) {
      const raw = isNativeKind(cursor.flags & HistoryFlag.kindMask)
        ? undefined
        : transfer.get(cursor.transfer, token);
      if (raw !== undefined) rows.push(toTransferRow(raw));
    }
  }
  return rows;
}

/** A wallet's balance after the transfers up to and including `lastTransfer`. */
export function balanceAfter(rows: readonly TransferRow[], wallet: number, lastTransfer: number): bigint {
  let balance = 0n;
  for (const { id, sender, receiver, amount } of rows) {
    if (id > lastTransfer) break;
    if (sender === wallet) balance -= amount;
    if (receiver === wallet) balance += amount;
  }
  return balance;
}

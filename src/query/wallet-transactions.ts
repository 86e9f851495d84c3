/** A wallet's transfers, transaction by transaction: its part in each follows from them alone. */
import type { Db } from '../store/open-database.ts';
import type { IdRange } from './blocks.ts';
import { prepareTransactionRows, type TransactionRow } from './transaction-rows.ts';
import { prepareHistoryPages } from './wallet-history-pages.ts';
import type { WorkBudget } from './work-budget.ts';

/** Units of work per transfer: 4 to 5 µs. */
export const ROW_UNITS = 40;

/** A wallet's transfers of one transaction, oldest first; at least one. */
export interface WalletTransaction {
  /** The id of the transaction's first transfer, of any wallet. */
  first: number;
  rows: readonly TransactionRow[];
}

/** A wallet's transactions within a range of whole transactions, newest first. */
export function prepareWalletTransactions(
  db: Db,
): (wallet: number, range: IdRange, budget: WorkBudget) => Generator<WalletTransaction, void, void> {
  const readPages = prepareHistoryPages(db);
  const rowsOf = prepareTransactionRows(db);
  return function* (wallet, range, budget) {
    // The oldest transaction of a page may begin on the page before.
    let open: WalletTransaction | null = null;
    for (const page of readPages(wallet, range, budget)) {
      const ids: number[] = [];
      while (page.next() && page.transfer < range.below)
        if (page.transfer >= range.from) ids.push(page.transfer);
      budget.spend(ROW_UNITS * ids.length);
      for (const found of transactionsOf(rowsOf(ids)).reverse()) {
        if (open?.first === found.first) open = { ...found, rows: [...found.rows, ...open.rows] };
        else {
          if (open !== null) yield open;
          open = found;
        }
      }
    }
    if (open !== null) yield open;
  };
}

/** Rows in the order of the chain, or of transactions, by transaction. */
export function transactionsOf(rows: readonly TransactionRow[]): WalletTransaction[] {
  const found: { first: number; rows: TransactionRow[] }[] = [];
  for (const row of rows) {
    const last = found.at(-1);
    if (last?.first === row.first) last.rows.push(row);
    else found.push({ first: row.first, rows: [row] });
  }
  return found;
}

/** The transactions of a token, from its history, with all their transfers. */
import type { Db } from '../store/open-database.ts';
import type { IdRange } from './blocks.ts';
import { prepareTokenHistoryIds } from './token-history.ts';
import { prepareTransactionRows, prepareTransactionsAt, type TransactionRow } from './transaction-rows.ts';
import {
  MAX_HISTORY_ROWS,
  ROW_UNITS,
  transactionsOf,
  type WalletTransaction,
} from './wallet-transactions.ts';
import type { WorkBudget } from './work-budget.ts';

/** Transfers of a token per read. */
const CHUNK = 500;

interface TransactionFilter extends IdRange {
  /** Whether to read the transaction of a transfer of the token. Default: all. */
  isWanted?: (transfer: TransactionRow) => boolean;
}

/** Where a reading of at most so many transfers ended: the first transfer of its oldest transaction; null at the end. */
type ReadFrom = number | null;

/**
 * A token's transactions within a range of whole ones, newest first. Reads at most `most` transfers of the token, and as
 * many of these transactions.
 */
export function prepareTokenTransactions(
  db: Db,
  most = MAX_HISTORY_ROWS,
): (
  token: number,
  filter: TransactionFilter,
  budget: WorkBudget,
) => Generator<WalletTransaction, ReadFrom, void> {
  const historyIds = prepareTokenHistoryIds(db);
  const rowsOf = prepareTransactionRows(db);
  const transactionsAt = prepareTransactionsAt(db);
  return function* (token, { from, below, isWanted }, budget) {
    let left = most;
    let rowsLeft = most;
    /** The oldest transaction that was given, which the next transfers may belong to. */
    let last: number | null = null;
    let oldest = below;
    for (let end = below; left > 0; ) {
      const limit = Math.min(CHUNK, left);
      const { ids } = historyIds(token, { from, below: end, limit }, budget);
      if (ids.length === 0) return null;
      end = ids.at(-1)!;
      left -= ids.length;
      const rows = rowsOf(ids);
      oldest = rows.at(-1)!.first;
      const wanted = isWanted === undefined ? rows : rows.filter(isWanted);
      const firsts = [...new Set(wanted.map(({ first }) => first))].filter((first) => first !== last);
      const read = transactionsAt(firsts, rowsLeft + 1);
      budget.spend(ROW_UNITS * (rows.length + read.length));
      const found = transactionsOf(read);
      const isCut = read.length > rowsLeft;
      // The limit may have cut the last one.
      for (const transaction of isCut ? found.slice(0, -1) : found) {
        yield transaction;
        last = transaction.first;
      }
      rowsLeft -= read.length;
      if (isCut) return last ?? firsts[0] ?? null;
    }
    const hasMore = historyIds(token, { from, below: oldest, limit: 1 }, budget).ids.length > 0;
    return hasMore ? oldest : null;
  };
}

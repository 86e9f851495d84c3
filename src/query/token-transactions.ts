/** The transactions of a token that may hold trades, from its history, with all their transfers. */
import type { Db } from '../store/open-database.ts';
import {
  prepareTradingTransactions,
  prepareTransactionStarts,
  type TradingTransaction,
} from '../store/read/transaction-parts.ts';
import type { IdRange } from './blocks.ts';
import { prepareTokenHistoryIds } from './token-history.ts';
import { MAX_HISTORY_ROWS } from './wallet-transactions.ts';
import type { WorkBudget } from './work-budget.ts';

/** Transfers of a token per read. */
const CHUNK = 1_000;

/** Units of work: for the place of a transfer, and for a transfer of a transaction, 0.6 and 1.5 µs. */
const START_UNITS = 6;
const ROW_UNITS = 15;

/**
 * The transfers of a rare token are on a page of the file each, and a page that is not cached takes 0.1 ms. So a
 * reading also ends after so many stretches of the chain, each about a page.
 */
const STRETCH = 128;
const MOST_STRETCHES = 2_048;

/** Bounds of a reading. */
interface Bounds {
  /** Transfers of the token, and transfers of its transactions. */
  transfers: number;
  stretches: number;
}

const BOUNDS: Bounds = { transfers: MAX_HISTORY_ROWS, stretches: MOST_STRETCHES };

interface TransactionFilter extends IdRange {
  /** Only transactions that also move such a token, or the native coin. */
  isWanted(token: number): boolean;
}

/** Where a reading ended at its bounds: the first transfer of its oldest transaction; null at the end of the range. */
type ReadFrom = number | null;

/** A token's transactions within a range of whole ones, newest first, as far as the bounds allow. */
export function prepareTokenTransactions(
  db: Db,
  bounds: Partial<Bounds> = {},
): (
  token: number,
  filter: TransactionFilter,
  budget: WorkBudget,
) => Generator<TradingTransaction, ReadFrom, void> {
  const { transfers: most, stretches } = { ...BOUNDS, ...bounds };
  const historyIds = prepareTokenHistoryIds(db);
  const startsOf = prepareTransactionStarts(db);
  const transactionsAt = prepareTradingTransactions(db);
  return function* (token, { from, below, isWanted }, budget) {
    const reach = new Reach(stretches);
    let left = most;
    let rowsLeft = most;
    /** The oldest transaction that was read, which the next transfers may belong to. */
    let last: number | null = null;
    for (let end = below; left > 0 && !reach.isEnded; ) {
      const limit = Math.min(CHUNK, left);
      const ids = reach.within(historyIds(token, { from, below: end, limit }, budget).ids);
      if (ids.length === 0) return null;
      end = ids.at(-1)!;
      left -= ids.length;
      const starts = startsOf(ids);
      const oldest = starts.at(-1)!.first;
      const unread = starts.filter(({ first, isAlone }) => !isAlone && first < (last ?? below));
      const firsts = [...new Set(unread.map(({ first }) => first))];
      const read = transactionsAt(firsts, rowsLeft, isWanted);
      budget.spend(START_UNITS * ids.length + ROW_UNITS * read.rows);
      yield* read.transactions;
      if (read.isCut) return read.last ?? last ?? oldest;
      rowsLeft -= read.rows;
      last = oldest;
    }
    const hasMore =
      last !== null && historyIds(token, { from, below: last, limit: 1 }, budget).ids.length > 0;
    return hasMore ? last : null;
  };
}

/** How many stretches of the chain a reading may still reach. */
class Reach {
  private left: number;
  private stretch = -1;
  isEnded = false;

  constructor(stretches: number) {
    this.left = stretches;
  }

  /** As many of these transfers, in the order of the chain or against it, as are in reach. */
  within(ids: readonly number[]): readonly number[] {
    for (const [i, id] of ids.entries()) {
      const stretch = Math.floor(id / STRETCH);
      if (stretch === this.stretch) continue;
      if (this.left === 0) {
        this.isEnded = true;
        return ids.slice(0, i);
      }
      this.stretch = stretch;
      this.left--;
    }
    return ids;
  }
}

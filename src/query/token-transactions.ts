/** The transactions of a token that may hold trades, from its history, with all their transfers. */
import type { Db } from '../store/open-database.ts';
import {
  prepareTradingTransactions,
  prepareTransactionRanges,
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
  /** Only transactions that also move one of these tokens, or the native coin (NATIVE). Null for all. */
  others: ReadonlySet<number> | null;
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
  const rangesOf = prepareTransactionRanges(db);
  const tradingAmong = prepareTradingTransactions(db);
  return function* (token, { from, below, others }, budget) {
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
      // The file is read forwards, as the system reads ahead.
      const ranges = rangesOf(ids.toReversed(), others).filter(({ first }) => first < (last ?? below));
      let start = ranges.length;
      let rows = 0;
      for (; start > 0; start--) {
        const { first, below } = ranges[start - 1]!;
        if (rows + below - first > rowsLeft) break;
        rows += below - first;
      }
      budget.spend(START_UNITS * ids.length + ROW_UNITS * rows);
      rowsLeft -= rows;
      const wanted = ranges.slice(start).filter(({ isWanted }) => isWanted);
      yield* tradingAmong(wanted).reverse();
      if (start > 0) return ranges[start]?.first ?? last ?? ranges[start - 1]!.first;
      last = Math.min(ranges[0]?.first ?? end, end);
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

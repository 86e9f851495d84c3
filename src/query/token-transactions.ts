/** The transactions of a token that may hold trades, from its history, with all their transfers. */
import type { Db } from '../store/open-database.ts';
import { prepareTradingTransactions, type TradingTransaction } from '../store/read/transaction-parts.ts';
import type { TradeIds } from '../trades/trade-part.ts';
import type { IdRange } from './blocks.ts';
import { READING_BOUNDS, Reach, type ReadFrom, type ReadingBounds } from './reach.ts';
import { prepareTokenHistoryIds } from './token-history.ts';
import { prepareFirstOfTransaction } from './wallet-history-reading.ts';
import type { WorkBudget } from './work-budget.ts';

/** Transfers of a token per read. */
const CHUNK = 1_000;

/** Units of work: for the place of a transfer, and for a transfer of a transaction, 0.6 and 1.5 µs. */
const START_UNITS = 6;
const ROW_UNITS = 15;

interface TransactionFilter extends IdRange {
  /** What the token is traded for: other tokens, or the native coin (NATIVE). Null for any. */
  others: ReadonlySet<number> | null;
}

/** What a reading makes of a transaction. */
export interface ToldTransaction extends PlacedTransaction {
  /** Its number of transfers. */
  readonly rows: number;
}

export interface PlacedTransaction {
  /** Its first transfer. */
  readonly first: number;
}

/** Transactions of a range that were told before. */
export interface KnownTransactions<T extends PlacedTransaction> extends IdRange {
  /** Those among them that may hold trades, oldest first. */
  readonly transactions: readonly T[];
}

/**
 * The transactions of a token within a range of whole ones that may hold trades of it, newest first, as far as the
 * bounds allow. Those that are known count like the others but are not read.
 */
export function prepareTokenTransactions<T extends ToldTransaction>(
  db: Db,
  tell: (transaction: TradingTransaction, token: number, ids: TradeIds) => T,
  bounds: Partial<ReadingBounds> = {},
): (
  token: number,
  filter: TransactionFilter,
  ids: TradeIds,
  budget: WorkBudget,
  known?: KnownTransactions<T> | null,
) => Generator<T, ReadFrom, void> {
  const { transfers: most, stretches } = { ...READING_BOUNDS, ...bounds };
  const historyIds = prepareTokenHistoryIds(db);
  const tradingAmong = prepareTradingTransactions(db);
  const firstOf = prepareFirstOfTransaction(db);

  /** Those of a list of transfers, newest first; null where they have more than `limit` transfers. */
  const read = (
    token: number,
    list: readonly number[],
    { others }: TransactionFilter,
    tradeIds: TradeIds,
    limit: number,
  ): T[] | null => {
    // The file is read forwards, as the system reads ahead.
    const found = tradingAmong(list.toReversed(), { token, others }, limit);
    return found?.map((transaction) => tell(transaction, token, tradeIds)).reverse() ?? null;
  };

  return function* (token, filter, tradeIds, budget, known = null) {
    const { from, below } = filter;
    const reach = new Reach(stretches);
    let [left, rowsLeft] = [most, most];
    let end = below;
    while (left > 0 && !reach.isEnded) {
      const border = borderBelow(end, filter, known);
      const limit = Math.min(CHUNK, left);
      const ids = reach.within(historyIds(token, { from: border, below: end, limit }, budget).ids);
      left -= ids.length;
      budget.spend(START_UNITS * ids.length);
      const isKnown = known !== null && end <= known.below && border >= known.from;
      for (let at = 0, size = ids.length; at < ids.length; ) {
        const list = ids.slice(at, at + size);
        const start = firstOf(list.at(-1)!);
        const found = isKnown
          ? knownBetween(known, start, end)
          : read(token, list, filter, tradeIds, rowsLeft);
        const rows = found === null ? Number.POSITIVE_INFINITY : rowsOf(found);
        if (found === null || rows > rowsLeft) {
          if (size === 1) return end === below ? start : end;
          size >>= 1;
          continue;
        }
        budget.spend(ROW_UNITS * rows);
        rowsLeft -= rows;
        yield* found;
        end = start;
        at += size;
        while (at < ids.length && ids[at]! >= start) at++;
      }
      if (ids.length === limit || reach.isEnded) continue;
      if (border === from) return null;
      end = border;
    }
    return historyIds(token, { from, below: end, limit: 1 }, budget).ids.length > 0 ? end : null;
  };
}

/** The lowest transfer of the next piece, which is either known or to be read. */
function borderBelow(end: number, { from }: IdRange, known: IdRange | null): number {
  if (known === null || end <= known.from) return from;
  return Math.max(from, end <= known.below ? known.from : known.below);
}

/** Newest first. */
export function knownBetween<T extends PlacedTransaction>(
  { transactions }: KnownTransactions<T>,
  from: number,
  below: number,
): T[] {
  const end = firstAtOrAfter(transactions, below);
  return transactions.slice(firstAtOrAfter(transactions, from), end).reverse();
}

/** The position of the first of these transactions from a transfer on. */
export function firstAtOrAfter(transactions: readonly PlacedTransaction[], transfer: number): number {
  let [low, high] = [0, transactions.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (transactions[middle]!.first < transfer) low = middle + 1;
    else high = middle;
  }
  return low;
}

function rowsOf(transactions: readonly ToldTransaction[]): number {
  return transactions.reduce((sum, { rows }) => sum + rows, 0);
}

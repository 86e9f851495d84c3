/**
 * The top counterparties of a busy wallet, from its stored sums (store/counterparty-sums.ts) and the transfers after
 * them. Each row of sums stores its peak. Rows are read by descending peak until no other row can change the answer: a
 * few hundred rows for a wallet with a million counterparties.
 */
import { addTotals, SumsCursor, sumsSpanOf } from '../store/counterparty-sums.ts';
import {
  type CounterpartyPlace,
  type CounterpartyTable,
  type CounterpartyTotals,
  isAfter,
} from '../store/counterparty-table.ts';
import type { Db } from '../store/open-database.ts';
import type { WorkBudget } from './work-budget.ts';

/** Typical number of sums per row. */
const SUMS_PER_ROW = 256;

interface SummedCounterparties {
  /** The newest transfer in a wallet's sums, undefined without sums. */
  lastOf(wallet: number): number | undefined;
  /**
   * The counterparties with most transfers after a position, in descending order; of equal ones the latest first.
   * `since` holds the transfers after the sums.
   */
  top(
    wallet: number,
    since: CounterpartyTable,
    limit: number,
    budget: WorkBudget,
    after: CounterpartyPlace,
  ): CounterpartyTotals[];
}

/** Upper bounds for any counterparty in a span: most transfers, and for that count the latest. */
interface SpanBound {
  span: number;
  count: number;
  last: number;
  isStored: boolean;
  /** Most transfers after the sums with one of them. */
  sinceCount: number;
  /** Their rows in the table of transfers after the sums. */
  since: number[];
}

export function prepareSummedCounterparties(db: Db): SummedCounterparties {
  const lastOf = db.prepare<[number], number>('SELECT last FROM summed_histories WHERE wallet = +?').pluck();
  const peaks = db.prepare<[number], { span: number; peak: number; last: number }>(
    'SELECT span, peak, last FROM counterparty_sums WHERE wallet = +? ORDER BY peak DESC, last DESC',
  );
  const sumsOf = db
    .prepare<[number, number], Buffer>('SELECT sums FROM counterparty_sums WHERE wallet = +? AND span = +?')
    .pluck();
  const cursor = new SumsCursor();

  const boundsOf = (wallet: number, since: CounterpartyTable): SpanBound[] => {
    const bounds = new Map<number, SpanBound>();
    for (const { span, peak, last } of peaks.all(wallet))
      bounds.set(span, { span, count: peak, last, isStored: true, sinceCount: 0, since: [] });
    for (let row = 0; row < since.size; row++) {
      const span = sumsSpanOf(since.counterpartyOf(row));
      let bound = bounds.get(span);
      if (bound === undefined) {
        bound = { span, count: 0, last: 0, isStored: false, sinceCount: 0, since: [] };
        bounds.set(span, bound);
      }
      bound.sinceCount = Math.max(bound.sinceCount, since.countOf(row));
      bound.last = Math.max(bound.last, since.lastOf(row));
      bound.since.push(row);
    }
    for (const bound of bounds.values()) bound.count += bound.sinceCount;
    return [...bounds.values()].sort((a, b) => b.count - a.count || b.last - a.last);
  };

  return {
    lastOf: (wallet) => lastOf.get(wallet),
    top(wallet, since, limit, budget, after) {
      const best = new Ranking(limit, after);
      for (const bound of boundsOf(wallet, since)) {
        if (!best.mayTakeBelow(bound.count, bound.last)) break;
        budget.spend(SUMS_PER_ROW);
        const unmatched = new Set(bound.since);
        if (bound.isStored) cursor.open(sumsOf.get(wallet, bound.span) ?? Buffer.alloc(0), bound.span);
        while (bound.isStored && cursor.next()) {
          const row = unmatched.size === 0 ? -1 : since.find(cursor.counterparty);
          const count = cursor.inCount + cursor.outCount + (row < 0 ? 0 : since.countOf(row));
          const last = row < 0 ? cursor.lastTransfer : since.lastOf(row);
          if (row >= 0) unmatched.delete(row);
          if (count === 0) continue; // the zero address
          if (!best.takes(count, last)) continue;
          best.add(row < 0 ? cursor.totals() : addTotals(cursor.totals(), since.totals(row)));
        }
        for (const row of unmatched)
          if (best.takes(since.countOf(row), since.lastOf(row))) best.add(since.totals(row));
      }
      return best.list;
    },
  };
}

/** The best counterparties so far, best first. */
class Ranking {
  readonly list: CounterpartyTotals[] = [];
  private readonly limit: number;
  private readonly after: CounterpartyPlace;

  constructor(limit: number, after: CounterpartyPlace) {
    this.limit = limit;
    this.after = after;
  }

  /** Whether a counterparty with this count and newest transfer is among the best. */
  takes(count: number, last: number): boolean {
    return isAfter(count, last, this.after) && this.mayTakeBelow(count, last);
  }

  /** Whether a counterparty with at most this many transfers may be. */
  mayTakeBelow(count: number, last: number): boolean {
    return this.list.length < this.limit || isBefore(count, last, this.list.at(-1));
  }

  add(totals: CounterpartyTotals): void {
    if (this.list.length === this.limit) this.list.pop();
    let rank = this.list.length;
    while (rank > 0 && isBefore(countOf(totals), totals.lastTransfer, this.list[rank - 1])) rank--;
    this.list.splice(rank, 0, totals);
  }
}

function countOf({ inCount, outCount }: CounterpartyTotals): number {
  return inCount + outCount;
}

function isBefore(count: number, last: number, other: CounterpartyTotals | undefined): boolean {
  if (other === undefined) return true;
  return count > countOf(other) || (count === countOf(other) && last > other.lastTransfer);
}

/** Who traded a token against a quote over all time, from the stored sums. */
import { Heap } from '../lib/heap.ts';
import { decodeSignedHex } from '../lib/signed.ts';
import type { Db } from '../store/open-database.ts';
import { idList } from '../store/read/id-list.ts';
import { profitAgainst, sumsAgainst } from '../store/trades/packed-sums.ts';
import { prepareTradeGenerations } from '../store/trades/trade-generations.ts';
import { isLarge, TRADE_SPAN } from '../store/trades/trade-peaks.ts';
import { averageCostProfit, emptySums, type TradeSums } from '../trades/profit.ts';
import type { WorkBudget } from './work-budget.ts';

/** A token and what it is traded for: ids of `tokens`, or NATIVE. */
export interface TradedPair {
  token: number;
  quote: number;
}

export interface Trader {
  wallet: number;
  sums: TradeSums;
  profit: bigint;
}

/** Units of work for the sums of a trader: 2 µs. */
const TRADER_UNITS = 20;

/** A place in a ranking: of equal keys the lower wallet comes first. */
interface Place {
  /** The profit, or the loss. */
  key: bigint;
  wallet: number;
}

export function isBefore(a: Place, b: Place): boolean {
  return a.key === b.key ? a.wallet < b.wallet : a.key > b.key;
}

interface Span extends Place {
  span: number;
}

type SumsRow = [wallet: number, sums: Uint8Array];

export interface RankingFilter {
  order: 'profit' | 'loss';
  /** The last trader of the page before. */
  after: { profit: bigint; wallet: number } | undefined;
}

/**
 * All traders of a token by the sums in use, most profit or most loss first. A large token's are read span by span, in
 * the order of the largest that each can hold, as far as the reader goes on.
 */
export function prepareTraderRanking(
  db: Db,
): (pair: TradedPair, filter: RankingFilter, budget: WorkBudget) => Iterable<Trader> {
  const generations = prepareTradeGenerations(db);
  const tradersOf = db
    .prepare<[number, number], number>(
      'SELECT traders FROM traded_tokens WHERE generation = +? AND token = +?',
    )
    .pluck();
  const peaks = (column: 'profit' | 'loss') =>
    db
      .prepare<[number, number, number], [span: number, peak: string]>(
        `SELECT span, hex(${column}) FROM trade_peaks WHERE generation = +? AND token = +? AND quote = +?`,
      )
      .raw();
  const peaksOf = { profit: peaks('profit'), loss: peaks('loss') };
  const sumsIn = db
    .prepare<[number, number, number, number], SumsRow>(
      'SELECT wallet, sums FROM trade_sums WHERE generation = +? AND token = +? AND wallet >= +? AND wallet < +?',
    )
    .raw();

  return function* ({ token, quote }, { order, after }, budget) {
    const { current } = generations();
    if (current === null) return;
    const { generation } = current;
    const keyOf = (profit: bigint) => (order === 'profit' ? profit : -profit);
    const start = after && { key: keyOf(after.profit), wallet: after.wallet };
    const traders = tradersOf.get(generation, token) ?? 0;
    const spans = new Heap<Span>(isBefore);
    const peaks = isLarge(traders) ? peaksOf[order].all(generation, token, quote) : [];
    for (const [span, peak] of peaks) {
      const key = keyOf(decodeSignedHex(peak));
      spans.push({ span, ...firstPlace({ key, wallet: span * TRADE_SPAN }, start) });
    }
    budget.spend(peaks.length);
    /** Sorted as far as it is read. */
    const found = new Heap<FoundTrader>(isBefore);
    const read = (from: number, below: number): number => {
      const rows = sumsIn.all(generation, token, from, below);
      for (const [wallet, packed] of rows) {
        const profit = profitAgainst(packed, quote);
        if (profit === null) continue;
        const place = { key: keyOf(profit), wallet, profit, packed };
        if (start === undefined || isBefore(start, place)) found.push(place);
      }
      return rows.length;
    };
    const next = (): Trader => {
      const { wallet, profit, packed } = found.pop()!;
      return { wallet, profit, sums: sumsAgainst(packed, quote) ?? emptySums() };
    };
    if (!isLarge(traders)) {
      budget.ensure(TRADER_UNITS * traders);
      budget.spend(TRADER_UNITS * read(0, Number.MAX_SAFE_INTEGER));
    }
    for (let span = spans.pop(); span !== undefined; span = spans.pop()) {
      while (found.first !== undefined && isBefore(found.first, span)) yield next();
      budget.spend(TRADER_UNITS * (1 + read(span.span * TRADE_SPAN, (span.span + 1) * TRADE_SPAN)));
    }
    while (found.first !== undefined) yield next();
  };
}

/** A trader whose sums are still packed. */
interface FoundTrader extends Place {
  profit: bigint;
  packed: Uint8Array;
}

/** The first place after `start` that a span may hold, whose highest key and first wallet are those of `peak`. */
function firstPlace(peak: Place, start: Place | undefined): Place {
  if (start === undefined || isBefore(start, peak)) return peak;
  const isEqualKeyLeft = start.wallet + 1 < peak.wallet + TRADE_SPAN;
  if (isEqualKeyLeft) return { key: start.key, wallet: Math.max(peak.wallet, start.wallet + 1) };
  return { key: start.key - 1n, wallet: peak.wallet };
}

/** The sums of some wallets with a token against a quote, by the sums in use; without those that never traded it. */
export function prepareTradersById(
  db: Db,
): (pair: TradedPair, wallets: readonly number[]) => Map<number, Trader> {
  const generations = prepareTradeGenerations(db);
  const statement = db
    .prepare<[string, number, number], SumsRow>(/* sql */ `
      SELECT s.wallet, s.sums FROM json_each(?) list CROSS JOIN trade_sums s
        ON s.generation = +? AND s.token = +? AND s.wallet = list.value`)
    .raw();
  return ({ token, quote }, wallets) => {
    const { current } = generations();
    const found = new Map<number, Trader>();
    if (current === null) return found;
    for (const [wallet, packed] of statement.all(idList(wallets), current.generation, token)) {
      const sums = sumsAgainst(packed, quote);
      if (sums !== null) found.set(wallet, { wallet, sums, profit: averageCostProfit(sums) });
    }
    return found;
  };
}

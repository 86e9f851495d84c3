/**
 * The table `trade_peaks`: a zone map over the sums of each token with many traders, so that finding those with the
 * largest profits and losses does not read all of them. Contracts count too: whether a wallet is one is learned later,
 * so the peaks are bounds for the others.
 */
import { decodeSigned, encodeSigned } from '../../lib/signed.ts';
import { averageCostProfit } from '../../trades/profit.ts';
import type { Db, Statement } from '../open-database.ts';
import { profitAgainst, type QuoteSums, unpackSums } from './packed-sums.ts';

/** A token with more traders has peaks. The sums of fewer are read in 50 ms. */
export const LARGE_TOKEN_TRADERS = 16_384;

/** Number of consecutive wallet ids per span: a token with 65,000 of 11 million wallets has 6 traders in each. */
export const TRADE_SPAN = 1_024;

export function isLarge(traders: number): boolean {
  return traders > LARGE_TOKEN_TRADERS;
}

/** The span of a wallet. */
export function tradeSpanOf(wallet: number): number {
  return Math.floor(wallet / TRADE_SPAN);
}

/** The sums of a token in a generation. */
interface TokenSums {
  generation: number;
  token: number;
}

/** The most profit and the most loss, which is the least profit. */
interface Extremes {
  highest: bigint;
  lowest: bigint;
}

/** How a commit changes the profits of a span against a quote. Null for none. */
interface SpanChange {
  span: number;
  quote: number;
  /** Of the changed sums, after the change. */
  after: Extremes | null;
  /** Of those whose profit changed, before it. */
  before: Extremes | null;
}

function widened(extremes: Extremes | null, profit: bigint): Extremes {
  if (extremes === null) return { highest: profit, lowest: profit };
  if (profit > extremes.highest) extremes.highest = profit;
  if (profit < extremes.lowest) extremes.lowest = profit;
  return extremes;
}

/** The spans of one token that a commit touches. */
export class TradePeakChanges {
  readonly spans = new Map<string, SpanChange>();

  /** Records how the sums of a wallet change. */
  record(wallet: number, before: readonly QuoteSums[], after: readonly QuoteSums[]): void {
    const profits = new Map(after.map((sums) => [sums.quote, averageCostProfit(sums)]));
    for (const [quote, profit] of profits) {
      const change = this.changeOf(tradeSpanOf(wallet), quote);
      change.after = widened(change.after, profit);
    }
    for (const sums of before) {
      const profit = averageCostProfit(sums);
      if (profits.get(sums.quote) === profit) continue;
      const change = this.changeOf(tradeSpanOf(wallet), sums.quote);
      change.before = widened(change.before, profit);
    }
  }

  private changeOf(span: number, quote: number): SpanChange {
    const key = `${span} ${quote}`;
    const known = this.spans.get(key);
    if (known !== undefined) return known;
    const change: SpanChange = { span, quote, after: null, before: null };
    this.spans.set(key, change);
    return change;
  }
}

type Peak = { profit: Buffer; loss: Buffer };

/** The statements on `trade_peaks` that a commit needs. They read the sums as the commit leaves them. */
export class TradePeakTable {
  private readonly peakOf: Statement<[number, number, number, number], Peak>;
  private readonly sumsIn: Statement<[number, number, number, number], Buffer>;
  private readonly allSums: Statement<[number, number, number, number], { wallet: number; sums: Buffer }>;
  private readonly write: Statement;
  private readonly deletePeak: Statement;
  private readonly deleteAll: Statement;

  constructor(db: Db) {
    const key = 'generation = ? AND token = ?';
    const span = `${key} AND quote = ? AND span = ?`;
    this.peakOf = db.prepare(`SELECT profit, loss FROM trade_peaks WHERE ${span}`);
    this.sumsIn = db
      .prepare<[number, number, number, number], Buffer>(
        `SELECT sums FROM trade_sums WHERE ${key} AND wallet BETWEEN ? AND ?`,
      )
      .pluck();
    this.allSums = db.prepare(
      `SELECT wallet, sums FROM trade_sums WHERE ${key} AND wallet > ? ORDER BY wallet LIMIT ?`,
    );
    this.write = db.prepare(
      'REPLACE INTO trade_peaks (generation, token, quote, span, profit, loss) VALUES (?, ?, ?, ?, ?, ?)',
    );
    this.deletePeak = db.prepare(`DELETE FROM trade_peaks WHERE ${span}`);
    this.deleteAll = db.prepare(`DELETE FROM trade_peaks WHERE ${key}`);
  }

  /** Sets the peaks of a token that has become large. */
  create(of: TokenSums): void {
    const changes = new TradePeakChanges();
    for (let last = -1; ; ) {
      const rows = this.allSums.all(of.generation, of.token, last, LARGE_TOKEN_TRADERS);
      for (const { wallet, sums } of rows) changes.record(wallet, [], unpackSums(sums));
      last = rows.at(-1)?.wallet ?? last;
      if (rows.length < LARGE_TOKEN_TRADERS) break;
    }
    this.update(of, changes);
  }

  /** Removes the peaks of a token that is no longer large, after a rollback. */
  remove({ generation, token }: TokenSums): void {
    this.deleteAll.run(generation, token);
  }

  /** Updates the peaks of a large token. */
  update(of: TokenSums, { spans }: TradePeakChanges): void {
    for (const change of [...spans.values()].sort((a, b) => a.quote - b.quote || a.span - b.span)) {
      const stored = this.peakOf.get(of.generation, of.token, change.quote, change.span);
      const peak = stored && { highest: decodeSigned(stored.profit), lowest: decodeSigned(stored.loss) };
      const next = peak === undefined ? change.after : nextPeak(peak, change);
      if (next === 'recompute') this.save(of, change, this.recomputed(of, change));
      else if (next?.highest !== peak?.highest || next?.lowest !== peak?.lowest) this.save(of, change, next);
    }
  }

  private save({ generation, token }: TokenSums, { quote, span }: SpanChange, peak: Extremes | null): void {
    if (peak === null) this.deletePeak.run(generation, token, quote, span);
    else
      this.write.run(generation, token, quote, span, encodeSigned(peak.highest), encodeSigned(peak.lowest));
  }

  private recomputed({ generation, token }: TokenSums, { quote, span }: SpanChange): Extremes | null {
    let found: Extremes | null = null;
    const [first, last] = [span * TRADE_SPAN, (span + 1) * TRADE_SPAN - 1];
    for (const row of this.sumsIn.all(generation, token, first, last)) {
      const profit = profitAgainst(row, quote);
      if (profit !== null) found = widened(found, profit);
    }
    return found;
  }
}

/** The peak after a change of some sums; 'recompute' where one that made it may be gone. */
function nextPeak(peak: Extremes, { before, after }: SpanChange): Extremes | 'recompute' {
  const highest = after === null || after.highest < peak.highest ? peak.highest : after.highest;
  const lowest = after === null || after.lowest > peak.lowest ? peak.lowest : after.lowest;
  if (before !== null) {
    if (before.highest === peak.highest && after?.highest !== highest) return 'recompute';
    if (before.lowest === peak.lowest && after?.lowest !== lowest) return 'recompute';
  }
  return { highest, lowest };
}

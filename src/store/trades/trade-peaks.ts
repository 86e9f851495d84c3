/**
 * The table `trade_peaks`: a zone map over the sums of each token with many traders, so that finding those with the
 * largest profits and losses does not read all of them. Contracts count too: whether a wallet is one is learned later,
 * so the peaks are bounds for the others.
 */
import { decodeSigned, encodeSigned } from '../../lib/signed.ts';
import { averageCostProfit } from '../../trades/profit.ts';
import type { Db, Statement } from '../open-database.ts';
import { RowReader, RowWriter } from '../rows.ts';
import { scratchOfHex } from '../scratch.ts';
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

/** The profit of a wallet with a token against one quote. */
interface QuoteProfit {
  quote: number;
  profit: bigint;
}

export function profitsOf(sums: readonly QuoteSums[]): QuoteProfit[] {
  return sums.map((each) => ({ quote: each.quote, profit: averageCostProfit(each) }));
}

/** The spans of one token that a commit touches. */
export class TradePeakChanges {
  readonly spans = new Map<string, SpanChange>();

  /** Records how the profits of a wallet change. */
  record(wallet: number, before: readonly QuoteProfit[], after: readonly QuoteProfit[]): void {
    const span = tradeSpanOf(wallet);
    for (const { quote, profit } of after) {
      const change = this.changeOf(span, quote);
      change.after = widened(change.after, profit);
    }
    for (const { quote, profit } of before) {
      if (after.some((each) => each.quote === quote && each.profit === profit)) continue;
      const change = this.changeOf(span, quote);
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

/** The most profit and the most loss of a span, as hex digits. */
type StoredPeak = [place: number, profit: string, loss: string];

/** The statements on `trade_peaks` that a commit needs. They read the sums as the commit leaves them. */
export class TradePeakTable {
  private readonly stored: RowReader<StoredPeak>;
  private readonly sumsIn: Statement<[number, number, number, number], string>;
  private readonly allSums: Statement<[number, number, number, number], { wallet: number; sums: Buffer }>;
  private readonly rows: RowWriter;
  private readonly deletePeak: Statement;
  private readonly deleteAll: Statement;

  constructor(db: Db) {
    const key = 'generation = ? AND token = ?';
    this.stored = new RowReader(
      db,
      4,
      'hex(profit), hex(loss)',
      `trade_peaks ON generation = k.column2 AND token = k.column3 AND quote = k.column4 AND span = k.column5`,
    );
    this.sumsIn = db
      .prepare<[number, number, number, number], string>(
        `SELECT hex(sums) FROM trade_sums WHERE ${key} AND wallet BETWEEN ? AND ?`,
      )
      .pluck();
    this.allSums = db.prepare(
      `SELECT wallet, sums FROM trade_sums WHERE ${key} AND wallet > ? ORDER BY wallet LIMIT ?`,
    );
    this.rows = new RowWriter(
      db,
      'REPLACE INTO trade_peaks (generation, token, quote, span, profit, loss) VALUES (?, ?, ?, ?, ?, ?)',
    );
    this.deletePeak = db.prepare(`DELETE FROM trade_peaks WHERE ${key} AND quote = ? AND span = ?`);
    this.deleteAll = db.prepare(`DELETE FROM trade_peaks WHERE ${key}`);
  }

  /** Sets the peaks of a token that has become large. */
  create(of: TokenSums): void {
    const changes = new TradePeakChanges();
    for (let last = -1; ; ) {
      const rows = this.allSums.all(of.generation, of.token, last, LARGE_TOKEN_TRADERS);
      for (const { wallet, sums } of rows) changes.record(wallet, [], profitsOf(unpackSums(sums)));
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
    const changes = [...spans.values()].sort((a, b) => a.quote - b.quote || a.span - b.span);
    const peaks = this.read(of, changes);
    this.rows.reset();
    for (const [i, change] of changes.entries()) {
      const peak = peaks[i];
      const next = peak === undefined ? change.after : nextPeak(peak, change);
      if (next === 'recompute') this.save(of, change, this.recomputed(of, change));
      else if (next?.highest !== peak?.highest || next?.lowest !== peak?.lowest) this.save(of, change, next);
    }
    this.rows.flush();
  }

  private read({ generation, token }: TokenSums, changes: readonly SpanChange[]): (Extremes | undefined)[] {
    const found = new Array<Extremes | undefined>(changes.length).fill(undefined);
    this.stored.read(
      changes.flatMap(({ quote, span }) => [generation, token, quote, span]),
      ([, profit, loss], place) => {
        found[place] = {
          highest: decodeSigned(scratchOfHex(profit)),
          lowest: decodeSigned(scratchOfHex(loss)),
        };
      },
    );
    return found;
  }

  private save({ generation, token }: TokenSums, { quote, span }: SpanChange, peak: Extremes | null): void {
    if (peak === null) this.deletePeak.run(generation, token, quote, span);
    else this.rows.add(generation, token, quote, span, encodeSigned(peak.highest), encodeSigned(peak.lowest));
  }

  private recomputed({ generation, token }: TokenSums, { quote, span }: SpanChange): Extremes | null {
    let found: Extremes | null = null;
    const [first, last] = [span * TRADE_SPAN, (span + 1) * TRADE_SPAN - 1];
    for (const row of this.sumsIn.all(generation, token, first, last)) {
      const profit = profitAgainst(scratchOfHex(row), quote);
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

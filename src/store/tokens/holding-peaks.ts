/**
 * The table `holding_peaks`: a zone map over the holdings of each large token, so that finding its largest holders does
 * not read all holdings. An index by balance would do the same but doubles the writes per transfer; a peak changes only
 * when the largest holding of its span does, and the commit has that holding at hand.
 */
import { ZERO_BALANCE } from '../../lib/signed.ts';
import type { Db, Statement } from '../open-database.ts';
import { ZERO_WALLET } from '../schema.ts';

/** A token with at least this many wallets has peaks. Reading fewer holdings takes 2 ms, the event loop's limit. */
export const LARGE_TOKEN_WALLETS = 16_384;

/**
 * Number of consecutive wallet ids per span. A token held by a tenth of 11 million wallets has 100 holders in each of
 * 11,000 spans.
 */
export const PEAK_SPAN = 1_024;

/** The span of a wallet. */
export function peakSpanOf(wallet: number): number {
  return Math.floor(wallet / PEAK_SPAN);
}

/** How a commit changes the holdings of one span; balances are encoded (lib/signed.ts). */
interface SpanChange {
  /** The largest changed holding, after the change. */
  highest: Uint8Array;
  /** The largest holding that shrank, before the change. */
  lowered: Uint8Array;
}

/** The spans of one token that a commit touches. */
export class PeakChanges {
  readonly spans = new Map<number, SpanChange>();

  /** Records how a holding changes; null means no row. Copies what it keeps. */
  record(wallet: number, before: Uint8Array | null, after: Uint8Array | null): void {
    if (wallet === ZERO_WALLET) return;
    const [was, is] = [before ?? ZERO_BALANCE, after ?? ZERO_BALANCE];
    const span = peakSpanOf(wallet);
    let change = this.spans.get(span);
    if (change === undefined) {
      change = { highest: ZERO_BALANCE, lowered: ZERO_BALANCE };
      this.spans.set(span, change);
    }
    if (Buffer.compare(is, change.highest) > 0) change.highest = Uint8Array.from(is);
    if (Buffer.compare(is, was) < 0 && Buffer.compare(was, change.lowered) > 0)
      change.lowered = Uint8Array.from(was);
  }
}

/** The statements on `holding_peaks` that a commit needs. They read the holdings as the commit leaves them. */
export class HoldingPeakTable {
  private readonly peakOf: Statement<[number, number], Buffer>;
  private readonly largestIn: Statement<[number, number, number, Uint8Array], Buffer | null>;
  private readonly write: Statement;
  private readonly deletePeak: Statement;
  private readonly deleteAll: Statement;
  private readonly insertAll: Statement;

  constructor(db: Db) {
    this.peakOf = db
      .prepare<[number, number], Buffer>('SELECT peak FROM holding_peaks WHERE token = ? AND span = ?')
      .pluck();
    this.largestIn = db
      .prepare<[number, number, number, Uint8Array], Buffer | null>(
        'SELECT max(balance) FROM holdings WHERE token = ? AND wallet BETWEEN ? AND ? AND balance > ?',
      )
      .pluck();
    this.write = db.prepare('REPLACE INTO holding_peaks (token, span, peak) VALUES (?, ?, ?)');
    this.deletePeak = db.prepare('DELETE FROM holding_peaks WHERE token = ? AND span = ?');
    this.deleteAll = db.prepare('DELETE FROM holding_peaks WHERE token = ?');
    this.insertAll = db.prepare(/* sql */ `
      INSERT INTO holding_peaks (token, span, peak)
      SELECT token, wallet / ${PEAK_SPAN} AS span, max(balance) FROM holdings
      WHERE token = ? AND wallet > ${ZERO_WALLET} AND balance > ? GROUP BY span`);
  }

  /** Sets the peaks of a token that has become large. */
  create(token: number): void {
    this.insertAll.run(token, ZERO_BALANCE);
  }

  /** Removes the peaks of a token that is no longer large, after a rollback. */
  remove(token: number): void {
    this.deleteAll.run(token);
  }

  /** Updates the peaks of a large token. */
  update(token: number, { spans }: PeakChanges): void {
    for (const span of [...spans.keys()].sort((a, b) => a - b)) {
      const { highest, lowered } = spans.get(span)!;
      const peak = this.peakOf.get(token, span) ?? ZERO_BALANCE;
      const order = Buffer.compare(highest, peak);
      if (order > 0) this.write.run(token, span, highest);
      else if (order < 0 && Buffer.compare(lowered, peak) === 0) this.recompute(token, span);
    }
  }

  private recompute(token: number, span: number): void {
    const first = Math.max(span * PEAK_SPAN, ZERO_WALLET + 1);
    const peak = this.largestIn.get(token, first, (span + 1) * PEAK_SPAN - 1, ZERO_BALANCE) ?? null;
    if (peak === null) this.deletePeak.run(token, span);
    else this.write.run(token, span, peak);
  }
}

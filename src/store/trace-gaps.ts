import type { TraceGaps } from '../model/index-status.ts';
import { rowChecksum } from './checksum.ts';
import type { Db, Statement } from './open-database.ts';

/** Block numbers, both inclusive. */
export interface BlockRange {
  first: number;
  last: number;
}

/** The statements on `untraced_blocks`. The caller opens the transaction. */
export class TraceGapTable {
  private readonly endingAt: Statement<[number], BlockRange>;
  private readonly replace: Statement;
  private readonly reaching: Statement<[number], BlockRange>;
  private readonly deleteRanges: Statement;
  private readonly overlapping: Statement<[number, number], BlockRange>;
  private readonly sum: Statement<[], TraceGaps>;

  constructor(db: Db) {
    this.endingAt = db.prepare('SELECT first, last FROM untraced_blocks WHERE last = ?');
    this.replace = db.prepare('REPLACE INTO untraced_blocks (first, last, checksum) VALUES (?, ?, ?)');
    this.reaching = db.prepare('SELECT first, last FROM untraced_blocks WHERE last > ?');
    this.deleteRanges = db.prepare('DELETE FROM untraced_blocks WHERE first >= ? AND first <= ?');
    this.overlapping = db.prepare('SELECT first, last FROM untraced_blocks WHERE first <= ? AND last >= ?');
    this.sum = db.prepare(/* sql */ `
      SELECT min(first) AS first, max(last) AS last, sum(last - first + 1) AS blocks
      FROM untraced_blocks HAVING count(*) > 0`);
  }

  /** The total over all ranges, null when there are none. */
  total(): TraceGaps | null {
    return this.sum.get() ?? null;
  }

  /**
   * Appends blocks. Extends an adjacent range, so that the rows do not depend on how the chain was cut into commits.
   */
  append({ first, last }: BlockRange): void {
    this.write(this.endingAt.get(first - 1)?.first ?? first, last);
  }

  /** Removes every block above `to`. */
  rollback(to: number): void {
    this.deleteRanges.run(to + 1, Number.MAX_SAFE_INTEGER);
    for (const { first } of this.reaching.all(to)) this.write(first, to);
  }

  /** Removes blocks whose internal transfers proved complete. */
  remove({ first, last }: BlockRange): void {
    if (last < first) return;
    for (const range of this.overlapping.all(last, first)) {
      this.deleteRanges.run(range.first, range.first);
      if (range.first < first) this.write(range.first, first - 1);
      if (range.last > last) this.write(last + 1, range.last);
    }
  }

  private write(first: number, last: number): void {
    this.replace.run(first, last, rowChecksum(first, last));
  }
}

/** The ranges in chain order; no two are adjacent. */
export function traceGapRanges(db: Db): BlockRange[] {
  return db.prepare<[], BlockRange>('SELECT first, last FROM untraced_blocks ORDER BY first').all();
}

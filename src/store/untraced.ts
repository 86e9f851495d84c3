/** The table `untraced_blocks`: the blocks whose internal transfers are missing, because nothing could trace them. */
import type { UntracedBlocks } from '../types.ts';
import type { Db, Statement } from './open-database.ts';

/** Block numbers, both inclusive. */
export interface BlockRange {
  first: number;
  last: number;
}

/** The statements on `untraced_blocks`; the caller holds the transaction. */
export class UntracedTable {
  private readonly extend: Statement;
  private readonly insert: Statement;
  private readonly truncate: Statement;
  private readonly deleteRanges: Statement;
  private readonly overlapping: Statement<[number, number], BlockRange>;
  private readonly sum: Statement<[], UntracedBlocks>;

  constructor(db: Db) {
    this.extend = db.prepare('UPDATE untraced_blocks SET last = ? WHERE last = ?');
    this.insert = db.prepare('INSERT INTO untraced_blocks (first, last) VALUES (?, ?)');
    this.truncate = db.prepare('UPDATE untraced_blocks SET last = ? WHERE last > ?');
    this.deleteRanges = db.prepare('DELETE FROM untraced_blocks WHERE first >= ? AND first <= ?');
    this.overlapping = db.prepare('SELECT first, last FROM untraced_blocks WHERE first <= ? AND last >= ?');
    this.sum = db.prepare(/* sql */ `
      SELECT min(first) AS first, max(last) AS last, sum(last - first + 1) AS blocks
      FROM untraced_blocks HAVING count(*) > 0`);
  }

  /** The sum over all ranges, null when there are none. */
  total(): UntracedBlocks | null {
    return this.sum.get() ?? null;
  }

  /** Adds blocks after all others, joined to an adjacent range, so that the rows do not depend on the commits. */
  append({ first, last }: BlockRange): void {
    if (this.extend.run(last, first - 1).changes === 0) this.insert.run(first, last);
  }

  /** Removes every block above `to`. */
  rollback(to: number): void {
    this.deleteRanges.run(to + 1, Number.MAX_SAFE_INTEGER);
    this.truncate.run(to, to);
  }

  /** Removes blocks that are now known to hold all that traces give. */
  remove({ first, last }: BlockRange): void {
    if (last < first) return;
    for (const range of this.overlapping.all(last, first)) {
      this.deleteRanges.run(range.first, range.first);
      if (range.first < first) this.insert.run(range.first, first - 1);
      if (range.last > last) this.insert.run(last + 1, range.last);
    }
  }
}

/** The ranges in chain order, no two of them adjacent. */
export function untracedRanges(db: Db): BlockRange[] {
  return db.prepare<[], BlockRange>('SELECT first, last FROM untraced_blocks ORDER BY first').all();
}

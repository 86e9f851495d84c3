import {
  type BlockGap,
  GAP_KINDS,
  type GapKind,
  type GapTotals,
  MAX_GAP_REASONS,
} from '../model/block-gap.ts';
import { rowChecksum } from './checksum.ts';
import type { Db, Statement } from './open-database.ts';
import { idList } from './read/id-list.ts';

/** Block numbers, both inclusive. */
export interface BlockRange {
  first: number;
  last: number;
}

/** A row of `block_gaps`, without its kind and checksum. */
interface GapRow extends BlockRange {
  reason: string;
}

const OVERLAPPING =
  'SELECT first, last, reason FROM block_gaps WHERE kind = ? AND first <= ? AND last >= ? ORDER BY first';

/** The statements on `block_gaps`. The caller opens the transaction. */
export class BlockGapTable {
  private readonly replace: Statement;
  private readonly upTo: Statement<[number, number], GapRow>;
  private readonly deleteFrom: Statement;
  private readonly overlapping: Statement<[number, number, number], GapRow>;
  private readonly sum: Statement<[number], BlockRange & { blocks: number }>;
  private readonly reasons: Statement<[number], GapTotals['reasons'][number]>;

  constructor(db: Db) {
    this.replace = db.prepare(
      'REPLACE INTO block_gaps (kind, first, last, reason, checksum) VALUES (?, ?, ?, ?, ?)',
    );
    this.upTo = db.prepare(
      'SELECT first, last, reason FROM block_gaps WHERE kind = ? AND first <= ? ORDER BY first DESC LIMIT 1',
    );
    this.deleteFrom = db.prepare('DELETE FROM block_gaps WHERE kind = ? AND first BETWEEN ? AND ?');
    this.overlapping = db.prepare(OVERLAPPING);
    this.sum = db.prepare(/* sql */ `
      SELECT min(first) AS first, max(last) AS last, sum(last - first + 1) AS blocks
      FROM block_gaps WHERE kind = ? HAVING count(*) > 0`);
    this.reasons = db.prepare(/* sql */ `
      SELECT reason, sum(last - first + 1) AS blocks FROM block_gaps WHERE kind = ?
      GROUP BY reason ORDER BY blocks DESC, reason LIMIT ${MAX_GAP_REASONS}`);
  }

  /** The total over all gaps of a kind, null when there are none. */
  total(kind: GapKind): GapTotals | null {
    const sum = this.sum.get(codeOf(kind));
    return sum === undefined ? null : { ...sum, reasons: this.reasons.all(codeOf(kind)) };
  }

  /**
   * Appends blocks. Extends an adjacent gap with the same reason, so that the rows do not depend on how the chain was
   * cut into commits.
   */
  append({ kind, first, last, reason }: BlockGap): void {
    const before = this.upTo.get(codeOf(kind), first - 1);
    const isSame = before?.last === first - 1 && before.reason === reason;
    this.write(kind, { first: isSame ? before.first : first, last, reason });
  }

  /** Removes every block above `to`. */
  rollback(to: number): void {
    for (const kind of GAP_KINDS) {
      this.deleteFrom.run(codeOf(kind), to + 1, Number.MAX_SAFE_INTEGER);
      const cut = this.upTo.get(codeOf(kind), to);
      if (cut !== undefined && cut.last > to) this.write(kind, { ...cut, last: to });
    }
  }

  /** Removes blocks that proved complete. */
  remove(kind: GapKind, { first, last }: BlockRange): void {
    if (last < first) return;
    for (const gap of this.overlapping.all(codeOf(kind), last, first)) {
      this.deleteFrom.run(codeOf(kind), gap.first, gap.first);
      if (gap.first < first) this.write(kind, { ...gap, last: first - 1 });
      if (gap.last > last) this.write(kind, { ...gap, first: last + 1 });
    }
  }

  private write(kind: GapKind, { first, last, reason }: GapRow): void {
    this.replace.run(codeOf(kind), first, last, reason, rowChecksum(first, last, codeOf(kind), reason));
  }
}

function codeOf(kind: GapKind): number {
  return GAP_KINDS.indexOf(kind);
}

/** The gaps of a kind in chain order, at most `limit`. */
export function readGaps(db: Db, kind: GapKind, limit = Number.MAX_SAFE_INTEGER): BlockGap[] {
  return db
    .prepare<[number, number], GapRow>(
      'SELECT first, last, reason FROM block_gaps WHERE kind = ? ORDER BY first LIMIT ?',
    )
    .all(codeOf(kind), limit)
    .map((row) => ({ kind, ...row }));
}

/** The gaps of all kinds within a range, cut to it. */
export function gapsBetween(db: Db, { first, last }: BlockRange): BlockGap[] {
  const overlapping = db.prepare<[number, number, number], GapRow>(OVERLAPPING);
  return GAP_KINDS.flatMap((kind) =>
    overlapping.all(codeOf(kind), last, first).map((gap) => ({
      kind,
      first: Math.max(gap.first, first),
      last: Math.min(gap.last, last),
      reason: gap.reason,
    })),
  );
}

/**
 * SQL: 1 if the block whose number is the expression `number` is a gap of any kind, so that transfers may be missing,
 * else 0. Costs nothing in an index without gaps: that is found out once per statement.
 */
export function isGapSql(number: string): string {
  const lastOfGap = (kind: GapKind) => /* sql */ `coalesce((SELECT last FROM block_gaps
    WHERE kind = ${codeOf(kind)} AND first <= ${number} ORDER BY first DESC LIMIT 1), -1)`;
  return /* sql */ `(EXISTS (SELECT 1 FROM block_gaps) AND max(${GAP_KINDS.map(lastOfGap).join()}) >= ${number})`;
}

/** Whether a block is a gap of any kind, so that transfers may be missing. */
export function prepareIsGap(db: Db): (block: number) => boolean {
  const statement = db
    .prepare<[number], number>(`SELECT ${isGapSql('block')} FROM (SELECT +? AS block)`)
    .pluck();
  return (block) => statement.get(block) === 1;
}

/** Which of some blocks are gaps, in one statement. */
export function prepareGapsAmong(db: Db): (blocks: readonly number[]) => ReadonlySet<number> {
  const statement = db
    .prepare<[string], number>(`SELECT list.value FROM json_each(?) list WHERE ${isGapSql('list.value')} = 1`)
    .pluck();
  return (blocks) => new Set(statement.all(idList(blocks)));
}

/** How many of the blocks `first .. last` are gaps; one that is of several kinds counts for each. */
export function prepareGapBlocks(db: Db): (first: number, last: number) => number {
  const statement = db
    .prepare<{ first: number; last: number }, number>(/* sql */ `
      SELECT ifnull(sum(min(last, $last) - max(first, $first) + 1), 0) FROM block_gaps
      WHERE first <= $last AND last >= $first`)
    .pluck();
  return (first, last) => statement.get({ first, last }) ?? 0;
}

/** The rewrites of the index (model/rewrites.ts): the rows of `rewrites`. */
import { randomInt } from 'node:crypto';
import type { Rewrite, Rewrites } from '../model/rewrites.ts';
import { rowChecksum } from './checksum.ts';
import type { Db, Statement } from './open-database.ts';

/** Rows kept. The last one knows the lowest block of all. */
const MAX_KEPT = 64;

/** SQL: the columns of a Rewrite, in the order of CHECKED_TABLES. */
const COLUMNS = 'number, first, lowest, highest, token';

/** A rewrite in several transactions. A reader in between must not take what is half done for the result. */
export interface OpenRewrite {
  /** What its last transaction recorded, null before the first. */
  number: number | null;
}

/** Reads the rewrites that the transaction of the caller sees. */
export function prepareRewrites(db: Db): () => Rewrites {
  const newest = db.prepare<[], Pick<Rewrite, 'number' | 'token'>>(
    'SELECT number, token FROM rewrites ORDER BY number DESC LIMIT 1',
  );
  const all = db.prepare<[], Rewrite>(`SELECT ${COLUMNS} FROM rewrites ORDER BY number`);
  let known: Rewrites = [];
  return () => {
    const last = newest.get();
    const before = known.at(-1);
    if (last?.number !== before?.number || last?.token !== before?.token) known = all.all();
    return known;
  };
}

/** The writes. */
export class RewriteTable {
  private readonly newest: Statement<[], Rewrite>;
  private readonly insert: Statement;
  private readonly deleteOne: Statement;
  private readonly deleteUpTo: Statement;

  constructor(db: Db) {
    this.newest = db.prepare(`SELECT ${COLUMNS} FROM rewrites ORDER BY number DESC LIMIT 1`);
    this.insert = db.prepare(`INSERT INTO rewrites (${COLUMNS}, checksum) VALUES (?, ?, ?, ?, ?, ?)`);
    this.deleteOne = db.prepare('DELETE FROM rewrites WHERE number = ?');
    this.deleteUpTo = db.prepare('DELETE FROM rewrites WHERE number <= ?');
  }

  /**
   * Records that the blocks from `first` to `head`, the last one, are written again. Call it in the transaction that
   * changes them; if there are several, in each one, with the same `open`.
   */
  record(first: number, head: number, open: OpenRewrite = { number: null }): void {
    const before = this.newest.get();
    const number = (before?.number ?? 0) + 1;
    const begun = open.number !== null && open.number === before?.number ? before : null;
    if (begun !== null) this.deleteOne.run(begun.number);
    this.write({
      number,
      first: Math.min(first, begun?.first ?? first),
      lowest: Math.min(first, before?.lowest ?? first),
      highest: Math.max(head, before?.highest ?? head),
      token: randomInt(2 ** 32),
    });
    this.deleteUpTo.run(number - MAX_KEPT);
    open.number = number;
  }

  private write({ number, first, lowest, highest, token }: Rewrite): void {
    const values = [number, first, lowest, highest, token];
    this.insert.run(...values, rowChecksum(...values));
  }
}

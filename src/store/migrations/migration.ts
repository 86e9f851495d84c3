/** What a migration of an index is made of (migrations.ts). */
import type { Db } from '../open-database.ts';

/** The step from one schema version to the next. */
export interface Migration {
  /** `PRAGMA user_version` after this migration. Schema 1 needs none, so the first one is 2. */
  version: number;
  /** What the migration does, for the log. */
  title: string;
  /**
   * Does part of the work within a fraction of a second. A step and its returned cursor commit together, so a kill
   * never repeats a step. `cursor` is what the previous step returned, null at first. The last step returns null.
   */
  step(db: Db, cursor: number | null): number | null;
  /** Roughly the last cursor, to show progress. Omit it for a single step. */
  end?(db: Db): number;
}

/** The name of the table with the rows that a migration still has to copy from it. */
export function unmigrated(db: Db, table: string): string {
  const former = db.prepare('SELECT 1 FROM sqlite_schema WHERE name = ?').get(`former_${table}`);
  return former === undefined ? table : `former_${table}`;
}

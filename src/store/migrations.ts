/**
 * From each released schema to the next. Migrations are numbered and only ever added: a file of any release is
 * brought up to date by running those it lacks. A new file is made by the present schema.ts, and a test checks that both
 * ways give the same tables. So a migration must keep its own copy of a table that schema.ts changes later.
 */

import { compactRowMigrations } from './compact-row-migrations.ts';
import type { Db } from './open-database.ts';
import { TOKEN_METADATA, TOKEN_QUALITY, UNTRACED_BLOCKS } from './schema.ts';

/** The work from one schema version to the next. */
export interface Migration {
  /** `PRAGMA user_version` of a file that has it. */
  version: number;
  /** What it does, for the log. */
  title: string;
  /**
   * Does one piece of the work, a fraction of a second's worth, in a transaction that also stores the returned cursor,
   * so no piece is repeated after a kill. `cursor` is what the previous piece returned, null for the first; the last
   * returns null.
   */
  step(db: Db, cursor: number | null): number | null;
  /** Roughly the cursor at which the work ends, for showing progress; none for work of a single piece. */
  end?(db: Db): number;
}

export interface MigrationProgress {
  version: number;
  title: string;
  /** Part of the migration that is done, 0 to 1. */
  done: number;
}

export const MIGRATIONS: readonly Migration[] = [
  {
    version: 2,
    title: 'make room for the quality of balance estimates',
    step(db) {
      db.exec(TOKEN_QUALITY);
      return null;
    },
  },
  {
    version: 3,
    title: 'make room for what token contracts say of themselves',
    step(db) {
      db.exec(TOKEN_METADATA);
      return null;
    },
  },
  ...compactRowMigrations(),
  {
    version: 9,
    title: 'make room for which blocks were indexed without traces',
    step(db) {
      db.exec(UNTRACED_BLOCKS); // empty: finding the untraced old blocks would mean reading all of them from the node
      return null;
    },
  },
];

/** The table that holds the cursor of an unfinished migration; it exists only during one. */
const CREATE_PROGRESS_TABLE = /* sql */ `CREATE TABLE IF NOT EXISTS migration (version INTEGER PRIMARY KEY, cursor INTEGER)`;

/** Runs the migrations the file lacks, one piece per step of the generator; after a stop the next call resumes there. */
export function* migrate(
  db: Db,
  migrations: readonly Migration[] = MIGRATIONS,
): Generator<MigrationProgress, void, void> {
  for (const migration of migrations) {
    if (migration.version <= schemaVersion(db)) continue;
    const { version, title } = migration;
    const end = migration.end?.(db) ?? 1;
    for (;;) {
      const cursor = db.transaction(() => runStep(db, migration)).immediate();
      yield { version, title, done: cursor === null ? 1 : Math.min(1, cursor / end) };
      if (cursor === null) break;
    }
  }
}

/** `PRAGMA user_version`. */
export function schemaVersion(db: Db): number {
  return Number(db.pragma('user_version', { simple: true }));
}

function runStep(db: Db, migration: Migration): number | null {
  db.exec(CREATE_PROGRESS_TABLE);
  const savedCursor = db
    .prepare<[number], number>('SELECT cursor FROM migration WHERE version = ?')
    .pluck()
    .get(migration.version);
  const cursor = migration.step(db, savedCursor ?? null);
  if (cursor === null) {
    db.exec('DROP TABLE migration');
    db.pragma(`user_version = ${migration.version}`);
  } else {
    db.prepare('INSERT OR REPLACE INTO migration (version, cursor) VALUES (?, ?)').run(
      migration.version,
      cursor,
    );
  }
  return cursor;
}

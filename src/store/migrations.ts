/**
 * Upgrades an index of an earlier release. Migrations are numbered and never removed: an older file runs the ones it
 * lacks, a new file is created from schema.ts. Both must yield the same tables, so a migration keeps its own copy of
 * any CREATE text that schema.ts changes later.
 */
import { rowChecksum } from './checksum.ts';
import type { Db } from './open-database.ts';

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

export interface MigrationProgress {
  version: number;
  title: string;
  /** Progress of this migration, 0 to 1. */
  done: number;
}

const CHECKSUM_OF_ANCHORS: Migration = {
  version: 2,
  title: 'add a checksum to the chain identity',
  step(db) {
    const columns = 'one, genesis, first_parent, finalized, reorg_from';
    const row = db.prepare<[], unknown[]>(`SELECT ${columns} FROM chain_anchors`).raw().get();
    db.exec(/* sql */ `
      DROP TABLE chain_anchors;
      CREATE TABLE chain_anchors (
        one INTEGER PRIMARY KEY CHECK (one = 1),
        genesis BLOB,
        first_parent BLOB,
        finalized INTEGER,
        reorg_from INTEGER,
        checksum INTEGER NOT NULL
      );`);
    if (row !== undefined)
      db.prepare(`INSERT INTO chain_anchors (${columns}, checksum) VALUES (?, ?, ?, ?, ?, ?)`).run(
        ...row,
        rowChecksum(...row),
      );
    return null;
  },
};

/** Schema 1 is the first release. */
export const MIGRATIONS: readonly Migration[] = [CHECKSUM_OF_ANCHORS];

/** Holds the cursor of an unfinished migration. The table exists only during a migration. */
const CREATE_PROGRESS_TABLE = /* sql */ `CREATE TABLE IF NOT EXISTS migration (version INTEGER PRIMARY KEY, cursor INTEGER)`;

/** Runs the migrations the file lacks, one step per `next`. After a stop, the next call resumes there. */
export function* migrate(db: Db, migrations: readonly Migration[]): Generator<MigrationProgress, void, void> {
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

/** The schema version after these migrations. */
export function latestVersion(migrations: readonly Migration[]): number {
  return migrations.at(-1)?.version ?? 1;
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

/**
 * A migration of many steps, for tests that interrupt it. As a program it migrates the given file (to the given
 * version, with the given rows) slowly and prints its progress, so that a test can kill it.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Migration } from '../../../src/store/migrations/migration.ts';
import { migrate, schemaVersion } from '../../../src/store/migrations/migrations.ts';
import { type Db, openDatabase } from '../../../src/store/open-database.ts';

/** Enough for a migration of seconds, however late the kill arrives. */
export const ROWS = 100_000;
const ROWS_PER_STEP = 20;

/** Creates the table that the migration counts up. */
export function countingTable(db: Db, rows = ROWS): void {
  db.exec('CREATE TABLE rows (id INTEGER PRIMARY KEY, touched INTEGER NOT NULL)');
  const insert = db.prepare('INSERT INTO rows (id, touched) VALUES (?, 0)');
  db.transaction(() => {
    for (let id = 1; id <= rows; id++) insert.run(id);
  })();
}

/** Increments every row, which reveals rows done twice or not at all. */
export function countingMigration(version: number, rows = ROWS): Migration {
  return {
    version,
    title: 'count every row',
    end: () => rows,
    step(db, cursor) {
      const from = cursor ?? 0;
      const to = from + ROWS_PER_STEP;
      db.prepare('UPDATE rows SET touched = touched + 1 WHERE id > ? AND id <= ?').run(from, to);
      return to >= rows ? null : to;
    },
  };
}

/** How many rows the migration has counted, by number of times. */
export function counted(path: string): unknown[] {
  const db = openDatabase(path);
  try {
    return db.prepare('SELECT touched, count(*) AS rows FROM rows GROUP BY touched').all();
  } finally {
    db.close();
  }
}

/** The version that the file's migrations have reached. */
export function versionOf(path: string): number {
  const db = openDatabase(path);
  try {
    return schemaVersion(db);
  } finally {
    db.close();
  }
}

const [, program, path, version = 2, rows = ROWS] = process.argv;
if (program === import.meta.filename && path !== undefined) {
  const db = openDatabase(path);
  for (const { done } of migrate(db, [countingMigration(Number(version), Number(rows))])) {
    console.log(done);
    await sleep(1);
  }
  db.close();
}

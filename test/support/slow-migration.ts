/**
 * A migration of many pieces, for tests of what happens between them. Run as a program it brings the file given up
 * to date, slowly, and says so at each piece: something to kill.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Migration, migrate } from '../../src/store/migrations.ts';
import { type Db, openDatabase } from '../../src/store/open-database.ts';

/** Enough for a migration of seconds, however late the one who kills it is. */
export const ROWS = 100_000;
const ROWS_PER_PIECE = 20;

/** The table that COUNTING works on. */
export function countingTable(db: Db): void {
  db.exec('CREATE TABLE rows (id INTEGER PRIMARY KEY, touched INTEGER NOT NULL)');
  const insert = db.prepare('INSERT INTO rows (id, touched) VALUES (?, 0)');
  db.transaction(() => {
    for (let id = 1; id <= ROWS; id++) insert.run(id);
  })();
}

/** Counts up every row; a row that was done twice, or not at all, shows. */
export const COUNTING: Migration = {
  version: 7,
  title: 'count every row',
  end: () => ROWS,
  step(db, cursor) {
    const from = cursor ?? 0;
    db.prepare('UPDATE rows SET touched = touched + 1 WHERE id > ? AND id <= ?').run(
      from,
      from + ROWS_PER_PIECE,
    );
    return from + ROWS_PER_PIECE >= ROWS ? null : from + ROWS_PER_PIECE;
  },
};

const path = process.argv[1] === import.meta.filename ? process.argv[2] : undefined;
if (path !== undefined) {
  const db = openDatabase(path);
  for (const { done } of migrate(db, [COUNTING])) {
    console.log(done);
    await sleep(1);
  }
  db.close();
}

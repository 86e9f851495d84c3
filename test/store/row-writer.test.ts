import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Db, openDatabase } from '../../src/store/open-database.ts';
import { RowWriter } from '../../src/store/row-writer.ts';

/** More than two calls of the multi-row statement, and some rows besides. */
const MOST_ROWS = 20;

function openTable(): Db {
  const db = openDatabase(':memory:');
  db.exec('CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT, bytes BLOB)');
  return db;
}

const writerOf = (db: Db) => new RowWriter(db, 'REPLACE INTO notes (id, text, bytes) VALUES (?, ?, ?)');

const rowsOf = (db: Db) =>
  db
    .prepare<[], [number, string | null, Buffer]>('SELECT id, text, bytes FROM notes ORDER BY id')
    .raw()
    .all();

test('all rows are written after the flush, the last one per id, whatever their number', () => {
  const row = fc.tuple(
    fc.integer({ min: 0, max: MOST_ROWS }),
    fc.option(fc.string()),
    fc.uint8Array({ maxLength: 4 }),
  );
  const property = fc.property(
    fc.array(fc.array(row, { maxLength: MOST_ROWS }), { maxLength: 3 }),
    (commits) => {
      const db = openTable();
      try {
        const writer = writerOf(db);
        for (const rows of commits) {
          for (const row of rows) writer.add(...row);
          writer.flush();
        }
        const wanted = [...new Map(commits.flat().map((row) => [row[0], row])).values()];
        assert.deepEqual(
          rowsOf(db),
          wanted.sort(([a], [b]) => a - b).map(([id, text, bytes]) => [id, text, Buffer.from(bytes)]),
        );
      } finally {
        db.close();
      }
    },
  );
  fc.assert(property);
});

test('rows of an aborted commit are not written with the next one', (t) => {
  const db = openTable();
  t.after(() => db.close());
  const writer = writerOf(db);
  writer.add(1, 'lost', null);
  writer.reset();
  writer.add(2, 'kept', null);
  writer.flush();
  assert.deepEqual(rowsOf(db), [[2, 'kept', null]]);
});

test('a row with too few or too many values is refused', (t) => {
  const db = openTable();
  t.after(() => db.close());
  const writer = writerOf(db);
  assert.throws(() => writer.add(1, 'short'), /2 values for 3 columns/);
  assert.throws(() => writer.add(1, 'long', null, null), /4 values for 3 columns/);
});

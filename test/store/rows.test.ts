import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Db, openDatabase } from '../../src/store/open-database.ts';
import { RowReader, RowWriter } from '../../src/store/rows.ts';

/** More than two calls of the statement for several rows, and some rows besides. */
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

test('every key that has a row gets that row, whatever the number of keys and however often one is listed', () => {
  const db = openDatabase(':memory:');
  db.exec('CREATE TABLE notes (part INTEGER, id INTEGER, bytes BLOB, PRIMARY KEY (part, id)) WITHOUT ROWID');
  const insert = db.prepare('REPLACE INTO notes VALUES (?, ?, ?)');
  const key = fc.tuple(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 0, max: 5 }));
  const stored = fc.array(fc.tuple(key, fc.uint8Array({ maxLength: 4 })));
  const property = fc.property(stored, fc.array(key, { maxLength: MOST_ROWS }), (rows, keys) => {
    db.exec('DELETE FROM notes');
    for (const [[part, id], bytes] of rows) insert.run(part, id, bytes);
    const wanted = new Map(rows.map(([key, bytes]) => [String(key), Buffer.from(bytes).toString('hex')]));
    const reader = new RowReader<[place: number, bytes: string]>(
      db,
      2,
      'lower(hex(bytes))',
      'notes ON part = k.column2 AND id = k.column3',
    );
    const found = new Array<string | undefined>(keys.length).fill(undefined);
    reader.read(keys.flat(), ([, bytes], place) => {
      assert.equal(found[place], undefined, 'each key is answered once');
      found[place] = bytes;
    });
    assert.deepEqual(
      found,
      keys.map((key) => wanted.get(String(key))),
    );
  });
  fc.assert(property);
  db.close();
});

test('a key whose values are null finds nothing', (t) => {
  const db = openDatabase(':memory:');
  t.after(() => db.close());
  db.exec('CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT); INSERT INTO notes VALUES (1, NULL)');
  const reader = new RowReader<[place: number, id: number]>(db, 1, 'id', 'notes ON id = k.column2');
  reader.read([null, 1, null], ([, id], place) => assert.deepEqual([id, place], [1, 1]));
});

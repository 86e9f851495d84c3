import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { openDatabase } from '../../src/store/open-database.ts';
import { RowReader } from '../../src/store/row-reader.ts';

/** More than two calls of the statement, and some keys besides. */
const MOST_KEYS = 20;

test('every key that has a row gets that row, whatever the number of keys and however often one is listed', () => {
  const db = openDatabase(':memory:');
  db.exec('CREATE TABLE notes (part INTEGER, id INTEGER, bytes BLOB, PRIMARY KEY (part, id)) WITHOUT ROWID');
  const insert = db.prepare('REPLACE INTO notes VALUES (?, ?, ?)');
  const key = fc.tuple(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 0, max: 5 }));
  const stored = fc.array(fc.tuple(key, fc.uint8Array({ maxLength: 4 })));
  const property = fc.property(stored, fc.array(key, { maxLength: MOST_KEYS }), (rows, keys) => {
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

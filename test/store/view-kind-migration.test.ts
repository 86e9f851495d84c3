import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changedRows, rowChecksum } from '../../src/store/checksum.ts';
import { migrate } from '../../src/store/migrations/migrations.ts';
import { viewKinds } from '../../src/store/migrations/view-kinds.ts';
import { openDatabase } from '../../src/store/open-database.ts';
import { SCHEMA } from '../../src/store/schema.ts';
import { address, createIndex } from '../support/index/index-fixture.ts';

const TOKENS = ['six', 'none', 'zero', 'damaged', 'late'];

test('metadata moves into a table with view kinds in steps, and odd contracts are called again', (t) => {
  const index = createIndex(t);
  index.append([
    { mint: TOKENS.map((token) => ({ kind: 'erc20' as const, from: 'zero', to: 'alice', token })) },
  ]);
  const db = openDatabase(index.path);
  t.after(() => db.close());
  // The table of schema 9.
  db.exec(/* sql */ `
    DROP INDEX token_metadata_by_symbol;
    DROP INDEX token_metadata_by_name;
    DROP INDEX token_metadata_by_retry;
    DROP TABLE token_metadata;
    CREATE TABLE token_metadata (
      address BLOB PRIMARY KEY,
      name TEXT,
      symbol TEXT,
      decimals INTEGER,
      tries INTEGER NOT NULL,
      retry_at INTEGER,
      checksum INTEGER NOT NULL
    ) WITHOUT ROWID;
    CREATE INDEX token_metadata_by_symbol ON token_metadata (symbol COLLATE NOCASE);
    CREATE INDEX token_metadata_by_name ON token_metadata (name COLLATE NOCASE);
    CREATE INDEX token_metadata_by_retry ON token_metadata (retry_at) WHERE retry_at IS NOT NULL;`);
  const insert = db.prepare('INSERT INTO token_metadata VALUES (?, ?, ?, ?, ?, ?, ?)');
  const read = (name: string, decimals: number | null, retryAt: number | null): void => {
    const row = [Buffer.from(address(name).slice(2), 'hex'), name, name, decimals, 2, retryAt];
    insert.run(...row, rowChecksum(...row) + (name === 'damaged' ? 1 : 0));
  };
  read('six', 6, null);
  read('none', null, null);
  read('zero', 0, null);
  read('damaged', 6, null);
  read('late', 18, 100);
  db.pragma('user_version = 9');

  const done = [...migrate(db, [viewKinds(2)])].map((progress) => progress.done);
  assert.deepEqual(done, [0, 0.4, 0.8, 1, 1]);
  const rows = db
    .prepare<[], { name: string }>(
      'SELECT name, symbol, decimals, view_kind, tries, retry_at FROM token_metadata',
    )
    .all();
  const rest = (name: string) => ({ name, symbol: name, view_kind: null, tries: 2 });
  assert.deepEqual(Object.fromEntries(rows.map((row) => [row.name, row])), {
    six: { ...rest('six'), decimals: 6, retry_at: null },
    none: { ...rest('none'), decimals: null, retry_at: 0 },
    zero: { ...rest('zero'), decimals: 0, retry_at: 0 },
    damaged: { ...rest('damaged'), decimals: 6, retry_at: null },
    late: { ...rest('late'), decimals: 18, retry_at: 100 },
  });
  assert.deepEqual(changedRows(db, 'token_metadata'), [Buffer.from(address('damaged').slice(2), 'hex')]);

  const texts = (of: typeof db) =>
    of
      .prepare("SELECT sql FROM sqlite_schema WHERE tbl_name LIKE '%token_metadata' AND sql NOT NULL")
      .pluck()
      .all();
  const fresh = openDatabase(':memory:');
  fresh.exec(SCHEMA);
  const plain = (sql: unknown[]) =>
    sql.map((text) => String(text).replace(/--.*$/gm, '').replace(/\s+/g, ' ')).sort();
  assert.deepEqual(plain(texts(db)), plain(texts(fresh)));
});

import assert from 'node:assert/strict';
import { readdirSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { FatalError } from '../../src/errors.ts';
import { IndexWriter } from '../../src/store/index-writer.ts';
import { openDatabase } from '../../src/store/open-database.ts';
import { acquireWriterLock } from '../../src/store/writer-lock.ts';
import { randomBlocks, toBatch } from '../support/random-chain.ts';
import { tempDir } from '../support/temp-dir.ts';

/** An index of some blocks, all of its pages in the file. */
function createFile(t: TestContext): { dir: string; path: string } {
  const dir = tempDir(t);
  const path = join(dir, 'index.db');
  const writer = new IndexWriter(path, { cacheMb: 8 });
  writer.setChain(1, 1);
  writer.append([toBatch(randomBlocks(1, 400, `0x${'00'.repeat(32)}`, 3))]);
  writer.close();
  return { dir, path };
}

test('a file that lacks a table is refused as no usable index, and nothing of it stays open', (t) => {
  const { dir, path } = createFile(t);
  const db = openDatabase(path);
  db.exec('DROP TABLE token_quality');
  db.close();
  assert.throws(
    () => new IndexWriter(path, { cacheMb: 8 }),
    (error) =>
      error instanceof FatalError && /cannot open .*index\.db: no such table.*quality/.test(error.message),
  );
  assert.deepEqual(
    readdirSync(dir).sort(),
    ['index.db', 'index.db.lock'],
    'the last connection takes the WAL',
  );
  acquireWriterLock(path).release();
});

test('a writer whose WAL fits no file any more says so when it closes, and is closed', (t) => {
  const { path } = createFile(t);
  const writer = new IndexWriter(path, { cacheMb: 8 });
  writer.setChain(1, 1);
  assert.ok(statSync(path).size > 200_000, 'more is missing than a WAL of few pages can bring back');
  truncateSync(path, 0);
  assert.throws(
    () => writer.close(),
    (error) => error instanceof FatalError && /index\.db is damaged/.test(error.message),
  );
  acquireWriterLock(path).release();
  assert.throws(() => writer.head(), /connection is not open/);
});

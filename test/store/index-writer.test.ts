import assert from 'node:assert/strict';
import { copyFileSync, readdirSync, renameSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { FatalError, StorageError } from '../../src/lib/errors.ts';
import { chainOf } from '../../src/store/chain.ts';
import { acquireWriterLock } from '../../src/store/file-guard.ts';
import { openIndexForReading, prepareIndexFile } from '../../src/store/index-file.ts';
import { IndexWriter } from '../../src/store/index-writer.ts';
import { openDatabase } from '../../src/store/open-database.ts';
import { randomBlocks, toBatch } from '../support/chain/random-chain.ts';
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

test('a file that lacks a table is refused as an unusable index, and is closed', (t) => {
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

test('a writer whose file was truncated reports it on close, and is closed', (t) => {
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

test('the writer lock takes no space on the disk', (t) => {
  const { dir, path } = createFile(t);
  const { release } = acquireWriterLock(path);
  assert.deepEqual(readdirSync(dir).sort(), ['index.db', 'index.db.lock']);
  assert.equal(statSync(`${path}.lock`).size, 0);
  release();
});

test('nothing is written while the WAL is moved away, because it would be lost; then writing resumes', (t) => {
  const { path } = createFile(t);
  const writer = new IndexWriter(path, { cacheMb: 8 });
  writer.setChain(1, 2);
  renameSync(`${path}-wal`, `${path}-away`);
  assert.throws(
    () => writer.setChain(1, 3),
    (error) => error instanceof StorageError && /index\.db-wal was removed or moved away/.test(error.message),
  );
  assert.equal(writer.chain()?.startBlock, 2);
  renameSync(`${path}-away`, `${path}-wal`);
  writer.setChain(1, 4);
  writer.close();
  const reopened = new IndexWriter(path, { cacheMb: 8 });
  assert.equal(reopened.chain()?.startBlock, 4);
  reopened.close();
});

test('a start after kill -9 serves from the WAL that was left, without copying it into the file first', async (t) => {
  const { path } = createFile(t);
  const killed = new IndexWriter(path, { cacheMb: 8 });
  killed.disableAutoCheckpoint();
  killed.setChain(1, 2);
  const left = join(tempDir(t), 'index.db');
  for (const suffix of ['', '-wal']) copyFileSync(`${path}${suffix}`, `${left}${suffix}`);
  killed.close();
  const { size } = statSync(`${left}-wal`);
  assert.ok(size > 0);
  const lock = await prepareIndexFile(left, { onMigration() {} });
  const reader = openIndexForReading(left);
  assert.deepEqual([chainOf(reader)?.startBlock, statSync(`${left}-wal`).size], [2, size]);
  reader.close();
  lock.release();
  assert.deepEqual(readdirSync(dirname(left)).sort(), ['index.db', 'index.db.lock']);
});

test('an index moved away without its WAL, as after kill -9, starts over', async (t) => {
  const { path } = createFile(t);
  const killed = new IndexWriter(path, { cacheMb: 8 });
  killed.disableAutoCheckpoint();
  killed.setChain(1, 2);
  for (const emptied of [false, true]) {
    const moved = join(tempDir(t), 'index.db');
    copyFileSync(`${path}-wal`, `${moved}-wal`);
    if (emptied) writeFileSync(moved, '');
    (await prepareIndexFile(moved, { onMigration() {} })).release();
    const writer = new IndexWriter(moved, { cacheMb: 8 });
    assert.equal(writer.chain(), null);
    writer.close();
  }
  killed.close();
});

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { type Db, openDatabase, WAL_KEPT_BYTES } from '../../src/store/open-database.ts';
import { WriteAheadLog } from '../../src/store/wal.ts';
import { tempDir } from '../support/temp-dir.ts';

const PAGE = 4096;
const COMMIT_PAGES = 200;
const COMMITS = 40;

function openTable(t: TestContext): { path: string; db: Db } {
  const path = join(tempDir(t), 'log.db');
  const db = openDatabase(path, { pageBytes: PAGE });
  t.after(() => db.close());
  db.exec('CREATE TABLE filler (id INTEGER PRIMARY KEY, bytes BLOB)');
  return { path, db };
}

async function startReaders(t: TestContext, path: string, count: number, readMs: number): Promise<void> {
  const url = new URL('../support/index/constant-reader.ts', import.meta.url);
  const workerData = { path, sql: 'SELECT count(*) FROM filler', readMs };
  const readers = Array.from({ length: count }, () => new Worker(url, { workerData }));
  t.after(() => Promise.all(readers.map((reader) => reader.terminate())));
  await Promise.all(readers.map((reader) => once(reader, 'message')));
}

/** Pages in the WAL after each of some commits that change COMMIT_PAGES pages. */
function write(db: Db, afterCommit: () => void, commits = COMMITS): number[] {
  const insert = db.prepare(`INSERT OR REPLACE INTO filler VALUES (?, zeroblob(${PAGE - 200}))`);
  const commit = db.transaction(() => {
    for (let id = 1; id <= COMMIT_PAGES; id++) insert.run(id);
  });
  const walStatus = db.prepare<[], { log: number }>('PRAGMA wal_checkpoint(NOOP)');
  return Array.from({ length: commits }, () => {
    commit.immediate();
    const pages = walStatus.get()?.log ?? 0;
    afterCommit();
    return pages;
  });
}

test('readers that follow each other without a gap do not let the WAL grow beyond a commit', async (t) => {
  const { path, db } = openTable(t);
  db.pragma('wal_autocheckpoint = 0');
  const wal = new WriteAheadLog(db, { checkpointAboveBytes: (COMMIT_PAGES / 2) * PAGE });
  await startReaders(t, path, 2, 2);
  const seen: number[] = [];
  const pages = write(db, () => {
    seen.push(wal.sizeBytes());
    wal.checkpointIfLarge();
  });
  // One commit and SQLite's own overhead. A reader delayed by a busy machine may delay one checkpoint.
  const usual = [...pages].sort((a, b) => a - b)[Math.floor(COMMITS / 2)]!;
  assert.ok(usual <= COMMIT_PAGES * 1.2, `usually ${usual} pages`);
  assert.ok(Math.max(...pages) < (COMMIT_PAGES * COMMITS) / 4, `at most ${Math.max(...pages)} pages`);
  assert.ok(Math.min(...seen) > COMMIT_PAGES * PAGE, 'it tells the size of the commit');
});

test('an emptied WAL keeps its file for commits of the same size, and gives it back after small ones', (t) => {
  const { path, db } = openTable(t);
  db.pragma('wal_autocheckpoint = 0');
  const wal = new WriteAheadLog(db, { checkpointAboveBytes: 0 });
  const fill = db.prepare('INSERT OR REPLACE INTO filler VALUES (?, zeroblob(?))');
  const commit = (bytes: number) => {
    wal.checkpointIfLarge();
    fill.run(1, bytes);
    return statSync(`${path}-wal`).size;
  };
  const LARGE = WAL_KEPT_BYTES * 1.5;
  assert.ok(commit(LARGE) > LARGE);
  assert.ok(commit(100) > LARGE, 'a backfill would need it again');
  assert.ok(commit(100) <= WAL_KEPT_BYTES);
});

test('a small WAL is left alone', (t) => {
  const { db } = openTable(t);
  db.pragma('wal_autocheckpoint = 0');
  const wal = new WriteAheadLog(db, { checkpointAboveBytes: COMMIT_PAGES * COMMITS * 2 * PAGE });
  const pages = write(db, () => wal.checkpointIfLarge());
  assert.ok(pages.at(-1)! > COMMIT_PAGES * (COMMITS - 1), `${pages.at(-1)} pages`);
});

test('a large WAL waits for reads that last longer than the writer waits for a small one', async (t) => {
  const { path, db } = openTable(t);
  db.pragma('wal_autocheckpoint = 0');
  const wal = new WriteAheadLog(db, { checkpointAboveBytes: 0, longWaitAboveBytes: 0 });
  await startReaders(t, path, 1, 400);
  const pages = write(db, () => wal.checkpointIfLarge(), 5);
  assert.ok(Math.max(...pages) < COMMIT_PAGES * 1.5, `${pages} pages`);
});

test('a read that does not end holds up the writer for long only when the WAL has doubled since the last time', (t) => {
  const { path, db } = openTable(t);
  db.pragma('wal_autocheckpoint = 0');
  const longWaitMs = 1_000;
  const limits = { checkpointAboveBytes: 0, longWaitAboveBytes: 1.5 * COMMIT_PAGES * PAGE, longWaitMs };
  const wal = new WriteAheadLog(db, limits);
  const backup = openDatabase(path, { readonly: true });
  t.after(() => backup.close());
  const waits = (commits: number): boolean[] => {
    const long: boolean[] = [];
    write(
      db,
      () => {
        const startedAt = performance.now();
        wal.checkpointIfLarge();
        long.push(performance.now() - startedAt >= longWaitMs * 0.9);
        assert.equal(
          db.pragma('busy_timeout', { simple: true }),
          5_000,
          'other locks are waited for as before',
        );
      },
      commits,
    );
    return long;
  };
  for (const name of ['first', 'after a WAL that was emptied']) {
    backup.exec('BEGIN');
    backup.prepare('SELECT count(*) FROM filler').get();
    const long = waits(9).flatMap((isLong, i) => (isLong ? [i + 1] : []));
    assert.deepEqual(long, [2, 5], name);
    backup.exec('COMMIT');
    assert.deepEqual(waits(1), [false], 'nobody is in the way');
  }
});

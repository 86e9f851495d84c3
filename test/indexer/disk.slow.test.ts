import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, renameSync, rmdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { generateChain } from '../../scripts/simulator/chain/generate.ts';
import { openAccess } from '../../src/access/access.ts';
import { type KeyStore, openKeyStore } from '../../src/access/keys.ts';
import { UsageCounter } from '../../src/access/usage.ts';
import { readUsage } from '../../src/access/usage-tables.ts';
import { retryWrite } from '../../src/indexer/retry-write.ts';
import { FatalError, StorageError } from '../../src/lib/errors.ts';
import { Appender } from '../../src/store/append.ts';
import { setChain } from '../../src/store/chain.ts';
import { Checkpointer } from '../../src/store/checkpointer.ts';
import { Tables } from '../../src/store/commit/tables.ts';
import { openIndexForWriting } from '../../src/store/index-file.ts';
import { IndexWriter } from '../../src/store/index-writer.ts';
import { type Db, openDatabase } from '../../src/store/open-database.ts';
import { toStorageError } from '../../src/store/storage-error.ts';
import { randomBlocks, toBatch } from '../support/chain/random-chain.ts';
import { startTestDaemon, type TestDaemon } from '../support/daemon/daemon.ts';
import { dumpIndex } from '../support/index/dump.ts';
import { startIndexer } from '../support/index/indexer.ts';
import { startNode } from '../support/nodes/replay.ts';
import { tempDir } from '../support/temp-dir.ts';
import { waitFor } from '../support/wait.ts';

const ROOT = `0x${'00'.repeat(32)}`;

/** Lets the file of a connection grow by this many pages and no more. */
function limitPages(db: Db, more: number): void {
  db.pragma(`max_page_count = ${Number(db.pragma('page_count', { simple: true })) + more}`);
}

function openAppender(path: string): { db: Db; appender: Appender } {
  const db = openIndexForWriting(path, {});
  setChain(db, 1, 1);
  return { db, appender: new Appender(db, new Tables(db)) };
}

test('a commit on a full disk leaves nothing behind and succeeds when there is space', async (t) => {
  const dir = tempDir(t);
  const blocks = randomBlocks(1, 400, ROOT, 3);
  const path = join(dir, 'index.db');
  const { db, appender } = openAppender(path);
  appender.write(appender.prepare([toBatch(blocks.slice(0, 100))]));
  const before = dumpIndex(path);
  limitPages(db, 3);
  const reasons: (string | null)[] = [];
  const stored = await retryWrite(
    () => {
      try {
        appender.write(appender.prepare([toBatch(blocks.slice(100))]));
      } catch (error) {
        throw toStorageError(error, path);
      }
    },
    (error) => {
      reasons.push(error?.message ?? null);
      if (error === null) return;
      assert.deepEqual(dumpIndex(path), before);
      if (reasons.length === 2) limitPages(db, 100_000);
    },
    new AbortController().signal,
  );
  assert.equal(stored, true);
  assert.equal(reasons.length, 3);
  assert.match(reasons[0] ?? '', /the disk is full .*SQLITE_FULL/);
  assert.equal(reasons[2], null);
  db.close();
  const fresh = openAppender(join(dir, 'fresh.db'));
  fresh.appender.write(fresh.appender.prepare([toBatch(blocks)]));
  fresh.db.close();
  assert.deepEqual(dumpIndex(path), dumpIndex(join(dir, 'fresh.db')));
});

test('a write that fails for a reason other than the disk is not retried', async () => {
  const damage = new FatalError('index.db is damaged');
  let tries = 0;
  const write = () => {
    tries++;
    throw damage;
  };
  const failed = retryWrite(write, () => assert.fail('nothing to wait for'), AbortSignal.timeout(10_000));
  await assert.rejects(failed, damage);
  assert.equal(tries, 1);
});

test('usage that does not fit on the disk stays in memory, is reported once, and is written later', (t) => {
  const store: KeyStore = openKeyStore(join(tempDir(t), 'keys.db'));
  t.after(() => store.close());
  const { record } = store.create({ name: 'a', tier: 'free' });
  const told: (string | null)[] = [];
  const now = Date.UTC(2026, 10, 30, 22, 59, 59);
  const usage = new UsageCounter(store.db, now, (error) => told.push(error?.message ?? null));
  t.after(() => usage.close());
  usage.add(record.id, 5, now);
  store.db.pragma('query_only = ON'); // writes fail with SQLITE_READONLY, as on a read-only file system
  usage.flush();
  usage.flush();
  assert.equal(told.length, 1);
  assert.match(told[0] ?? '', /read-only/);
  const nextHour = now + 3_600_000;
  const nextMonth = now + 2 * 3_600_000;
  usage.add(record.id, 2, nextHour);
  usage.add(record.id, 1, nextMonth);
  assert.equal(usage.used(record.id, nextMonth), 1);
  store.db.pragma('query_only = OFF');
  usage.flush();
  assert.equal(told.at(-1), null);
  assert.deepEqual(
    readUsage(store.db).map(({ month, requests }) => [month, requests]),
    [
      [202612, 1],
      [202611, 7],
    ],
  );
});

test('distinguishes transient failures from damage and bugs', () => {
  const sqlite = (code: string) => Object.assign(new Error('from SQLite'), { code });
  for (const code of [
    'SQLITE_FULL',
    'SQLITE_IOERR_WRITE',
    'SQLITE_READONLY_DBMOVED',
    'SQLITE_BUSY',
    'SQLITE_CANTOPEN',
  ])
    assert.ok(toStorageError(sqlite(code), 'index.db') instanceof StorageError, code);
  assert.match(
    String(toStorageError(sqlite('SQLITE_CORRUPT_VTAB'), 'index.db')),
    /DamagedFileError.*index.db is damaged/,
  );
  const constraint = sqlite('SQLITE_CONSTRAINT');
  assert.equal(toStorageError(constraint, 'index.db'), constraint);
});

test('a removed keys file is reported even if no request was counted', (t) => {
  const path = join(tempDir(t), 'keys.db');
  const store: KeyStore = openKeyStore(path);
  t.after(() => store.close());
  const told: (string | null)[] = [];
  const usage = new UsageCounter(store.db, Date.now(), (error) => told.push(error?.message ?? null));
  t.after(() => usage.close());
  usage.flush();
  assert.deepEqual(told, []);
  renameSync(path, `${path}.away`);
  usage.flush();
  usage.flush();
  assert.equal(told.length, 1);
  assert.match(told[0] ?? '', /keys\.db was removed or moved away: put it back, or restart/);
  renameSync(`${path}.away`, path);
  usage.flush();
  assert.equal(told.at(-1), null);
});

interface Case {
  node: Awaited<ReturnType<typeof startNode>>;
  daemon: TestDaemon;
  logs: string[];
}

/** A daemon at block 20 of a chain of 60 in the given folder. */
async function startCase(t: TestContext, dataDir: string): Promise<Case> {
  const chain = [...generateChain({ seed: 11, blocks: 60, txPerBlock: 40 }).blocks];
  const node = await startNode(t, { chain, head: 20 });
  const logs: string[] = [];
  const note = (fields: object, msg: string) => logs.push(`${msg} ${JSON.stringify(fields)}`);
  const daemon = await startTestDaemon(t, {
    dataDir,
    flags: { '--node-http': node.url },
    log: { debug: note, info: note, warn: note, error: note },
  });
  await daemon.reaches(20);
  return { node, daemon, logs };
}

/** Waits until indexing is paused for the reason, and checks that everything else works. */
async function assertPaused({ daemon, logs }: Case, reason: RegExp): Promise<void> {
  await waitFor(
    () => daemon.daemon.status().phase === 'paused' && reason.test(daemon.daemon.status().reason ?? ''),
    {
      what: `indexing to be paused for ${reason}; ${JSON.stringify(daemon.daemon.status())}`,
    },
  );
  const ready = await fetch(`${daemon.url}/readyz`);
  assert.equal(ready.status, 503);
  assert.match(await ready.text(), reason);
  assert.equal((await fetch(`${daemon.url}/healthz`)).status, 200);
  const { count } = await daemon.get<{ count: number }>('whale_transfers', { min_mon: 0, limit: 3 });
  assert.equal(count, 3, 'answers go on');
  assert.equal(
    logs.filter((line) => /^indexing is paused/.test(line) && reason.test(line)).length,
    1,
    logs.join('\n'),
  );
}

/** Requires that indexing reaches the end of the chain and that the index is correct. */
async function assertResumes(t: TestContext, { node, daemon, logs }: Case): Promise<void> {
  node.setHead(60);
  await daemon.reaches(60);
  await waitFor(async () => (await fetch(`${daemon.url}/readyz`)).status === 200, { what: 'readiness' });
  assert.ok(logs.some((line) => line.startsWith('indexing resumes')));
  await daemon.daemon.close();
  const fresh = startIndexer(t, { http: node.url, dir: tempDir(t) });
  await fresh.reaches(60);
  await fresh.client.stop();
  assert.deepEqual(dumpIndex(join(daemon.dataDir, 'index.db')), dumpIndex(fresh.path));
}

test('while the index file is moved or replaced indexing pauses, serving goes on; put back, it resumes', async (t) => {
  const dataDir = tempDir(t);
  const running = await startCase(t, dataDir);
  const path = join(dataDir, 'index.db');
  renameSync(path, `${path}.away`);
  await assertPaused(running, /index\.db was removed or moved away: put it back/);
  copyFileSync(`${path}.away`, path);
  await assertPaused(running, /index\.db was replaced by another file/);
  running.node.setHead(30);
  rmSync(path);
  renameSync(`${path}.away`, path);
  await assertResumes(t, running);
});

/** Mounts a small in-memory file system until the test ends; null where that is not permitted. */
function smallDisk(t: TestContext, kib: number): string | null {
  const dir = mkdtempSync(join(tmpdir(), 'atlas-disk-'));
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${kib}k`, 'tmpfs', dir]).status === 0;
  t.after(() => {
    if (mounted) spawnSync('umount', ['-l', dir]);
    rmdirSync(dir);
  });
  return mounted ? dir : null;
}

test('on a full disk indexing pauses and serving goes on; when there is room it resumes by itself', async (t) => {
  const dataDir = smallDisk(t, 8_192);
  if (dataDir === null) return t.skip('left out: mounting a small tmpfs is not permitted here');
  const running = await startCase(t, dataDir);
  const ballast = join(dataDir, 'ballast');
  fillUp(ballast);
  running.node.setHead(60);
  await assertPaused(running, /the disk (is full|or the file system fails)/);
  rmSync(ballast);
  await assertResumes(t, running);
});

test('a commit that must first empty a large WAL, but lacks the space, is retried like any other', (t) => {
  const dir = smallDisk(t, 65_536);
  if (dir === null) return t.skip('left out: mounting a small tmpfs is not permitted here');
  const path = join(dir, 'index.db');
  const writer = new IndexWriter(path, { cacheMb: 8 });
  t.after(() => writer.close());
  writer.disableAutoCheckpoint();
  writer.setChain(1, 1);
  const other = openDatabase(path);
  other.pragma('wal_autocheckpoint = 0');
  other.exec('CREATE TABLE filler AS SELECT zeroblob(20000000)');
  other.close();
  const ballast = join(dir, 'ballast');
  fillUp(ballast);
  const batches = [toBatch(randomBlocks(1, 100, ROOT, 3))];
  assert.throws(() => writer.append(batches), StorageError);
  rmSync(ballast);
  writer.append(batches);
  assert.equal(writer.head()?.number, 100);
  assert.ok(statSync(path).size > 20_000_000, 'the WAL was emptied');
});

test('a checkpoint on a full disk leaves the pages in the WAL, and moves them when there is space', async (t) => {
  const dir = smallDisk(t, 4_096);
  if (dir === null) return t.skip('left out: mounting a small tmpfs is not permitted here');
  const db = openDatabase(join(dir, 'log.db'));
  t.after(() => db.close());
  db.pragma('wal_autocheckpoint = 0');
  db.exec('CREATE TABLE filler (bytes BLOB)');
  db.exec('INSERT INTO filler VALUES (zeroblob(1000000))');
  const checkpointer = new Checkpointer(db.name);
  t.after(() => checkpointer.close());
  const ballast = join(dir, 'ballast');
  fillUp(ballast);
  await checkpointer.checkpointWal();
  assert.ok(statSync(db.name).size < 1_000_000);
  assert.equal(db.prepare('SELECT length(bytes) FROM filler').pluck().get(), 1_000_000);
  rmSync(ballast);
  await checkpointer.checkpointWal();
  assert.ok(statSync(db.name).size > 1_000_000);
});

test('on a full disk keys are opened and usage is counted; it is written when there is room', (t) => {
  const dir = smallDisk(t, 1_024);
  if (dir === null) return t.skip('left out: mounting a small tmpfs is not permitted here');
  const path = join(dir, 'keys.db');
  const ballast = join(dir, 'ballast');
  const tiers = { free: { requests_per_month: 0, requests_per_second: 0, chain_depth: 5 } };
  const killed = openKeyStore(path); // leaves its files behind, like a killed process
  const { key, record } = killed.create({ name: 'app', tier: 'free' });
  fillUp(ballast);
  const told: (string | null)[] = [];
  const access = openAccess(path, tiers, (error) => told.push(error?.message ?? null));
  assert.equal(access.keys.verify(key)?.id, record.id);
  access.usage.add(record.id, 3, Date.now());
  access.usage.flush();
  assert.match(told[0] ?? '', /the disk is full/);
  assert.throws(() => access.keys.create({ name: 'late', tier: 'free' }), /the disk is full/);
  rmSync(ballast);
  access.close();
  assert.deepEqual(
    readUsage(killed.db).map(({ requests }) => requests),
    [3],
  );
  killed.close();
  fillUp(ballast);
  assert.throws(() => openKeyStore(path), {
    name: 'FatalError',
    message: /cannot open .*: the disk is full/,
  });
});

/** Writes a file until the disk is full. */
function fillUp(path: string): void {
  for (const size of [1 << 20, 1 << 12]) {
    try {
      for (;;) writeFileSync(path, Buffer.alloc(size), { flag: 'a' });
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error;
    }
  }
}

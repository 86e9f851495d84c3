import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { openAccess } from '../../src/access/access.ts';
import { readUsage } from '../../src/access/usage-tables.ts';
import { Checkpointer } from '../../src/store/checkpointer.ts';
import { type Db, openDatabase } from '../../src/store/open-database.ts';
import { tempDir } from '../support/temp-dir.ts';

const TIERS = { free: { requests_per_month: 0, requests_per_second: 0, chain_depth: 5 } };
/** Longest time without a wait, even on a busy machine: less than the shortest wait for a lock, five seconds. */
const AT_ONCE_MS = 2_000;

function openLockable(t: TestContext) {
  const path = join(tempDir(t), 'keys.db');
  const failures: (string | null)[] = [];
  const access = openAccess(path, TIERS, (error) => failures.push(error?.message ?? null));
  const { record } = access.keys.create({ name: 'app', tier: 'free' });
  const other = openDatabase(path);
  t.after(() => other.close());
  const written = () => readUsage(other, record.id)[0]?.requests ?? 0;
  return { access, failures, id: record.id, other, written };
}

/** Locks the file like a program that hangs in the middle of a change. */
function lock(db: Db): () => void {
  db.exec('BEGIN IMMEDIATE');
  return () => db.exec('COMMIT');
}

function assertAtOnce(action: () => void): void {
  const startedAt = performance.now();
  action();
  assert.ok(performance.now() - startedAt < AT_ONCE_MS, 'the thread that serves has waited');
}

test('requests do not wait while another program locks the keys file', (t) => {
  const { access, failures, id, other, written } = openLockable(t);
  t.after(() => access.close());
  const unlock = lock(other);
  access.usage.add(id, 3, Date.now());
  assertAtOnce(() => access.usage.flush());
  assertAtOnce(() =>
    assert.throws(() => access.keys.create({ name: 'late', tier: 'free' }), {
      name: 'StorageError',
      message: /another program holds the file locked/,
    }),
  );
  assert.equal(access.usage.used(id, Date.now()), 3);
  unlock();
  access.usage.flush();
  assert.equal(written(), 3);
  assert.deepEqual(failures, [], 'so short a lock is nothing to report');
});

test('a lasting lock is reported once, and its release once', (t) => {
  const { access, failures, id, other, written } = openLockable(t);
  t.after(() => access.close());
  const unlock = lock(other);
  for (let i = 0; i < 30; i++) {
    access.usage.add(id, 1, Date.now());
    access.usage.flush();
  }
  assert.equal(failures.length, 1);
  assert.match(failures[0] ?? '', /another program holds the file locked/);
  unlock();
  access.usage.flush();
  assert.deepEqual(failures.slice(1), [null]);
  assert.equal(written(), 30);
});

/** Locks the file named by its second argument, reports it, and releases it half a second later. */
const LOCKER = `
  const { openDatabase } = await import(process.argv[1]);
  const db = openDatabase(process.argv[2]);
  db.exec('BEGIN IMMEDIATE');
  console.log('locked');
  setTimeout(() => db.exec('COMMIT'), 500);`;

test('shutdown waits for the lock, or the counts would be lost', async (t) => {
  const { access, failures, id, other, written } = openLockable(t);
  const module = new URL('../../src/store/open-database.ts', import.meta.url).href;
  const child = spawn(process.execPath, ['--input-type=module', '-e', LOCKER, module, other.name], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  access.usage.add(id, 3, Date.now());
  access.close();
  assert.equal(written(), 3);
  assert.deepEqual(failures, []);
  if (child.exitCode === null) await once(child, 'exit');
});

test('a reader of the keys file does not block a checkpoint that holds the lock', async (t) => {
  const { access, other } = openLockable(t);
  t.after(() => access.close());
  other.exec('BEGIN');
  other.prepare('SELECT count(*) FROM keys').get();
  access.keys.create({ name: 'another', tier: 'free' }); // not visible to the reader
  const checkpointer = new Checkpointer(other.name);
  t.after(() => checkpointer.close());
  assertAtOnce(() => checkpointer.emptyWal());
  other.exec('COMMIT');
});

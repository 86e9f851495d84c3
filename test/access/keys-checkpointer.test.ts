import assert from 'node:assert/strict';
import { copyFileSync, mkdirSync, renameSync, rmdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { openAccess } from '../../src/access/access.ts';
import { KeysCheckpointer } from '../../src/access/keys-checkpointer.ts';
import { readUsage } from '../../src/access/usage-tables.ts';
import { openDatabase } from '../../src/store/open-database.ts';
import { logTo } from '../support/logs.ts';
import { tempDir } from '../support/temp-dir.ts';

const MIN_WAL_BYTES = 4 * 2 ** 20;

function openAll(t: TestContext) {
  const dir = tempDir(t);
  const path = join(dir, 'keys.db');
  const tiers = { free: { requests_per_month: 0, requests_per_second: 0, chain_depth: 5 } };
  openAccess(path, tiers).close(); // from now on the tables are in the file itself
  const access = openAccess(path, tiers);
  t.after(() => access.close());
  const failures: string[] = [];
  const checkpointer = new KeysCheckpointer(path, logTo(failures));
  t.after(() => checkpointer.close());
  const walBytes = () => statSync(`${path}-wal`).size;
  /** The contents of the file alone, without its WAL. */
  const countedInFile = () => {
    const copy = join(dir, 'copy.db');
    copyFileSync(path, copy);
    const db = openDatabase(copy);
    try {
      return readUsage(db, 1)[0]?.requests ?? 0;
    } finally {
      db.close();
    }
  };
  return { path, access, checkpointer, failures, walBytes, countedInFile };
}

/** Writes usage like a daemon under load, until the WAL is long. */
function fillWal({ access, walBytes }: Pick<ReturnType<typeof openAll>, 'access' | 'walBytes'>): number {
  let counted = 0;
  while (walBytes() < MIN_WAL_BYTES) {
    for (let i = 0; i < 50; i++) {
      access.usage.add(1, 1, Date.now());
      access.usage.flush();
      counted++;
    }
  }
  return counted;
}

test('writing usage never checkpoints, which would wait for the disk', (t) => {
  const all = openAll(t);
  fillWal(all);
  assert.equal(all.countedInFile(), 0);
});

test('a thread checkpoints a long log while usage is counted', async (t) => {
  const all = openAll(t);
  const counted = fillWal(all);
  await all.checkpointer.checkpointIfLarge();
  assert.deepEqual(all.failures, []);
  assert.equal(all.countedInFile(), counted);
  const { key } = all.access.keys.create({ name: 'app', tier: 'free' });
  assert.ok(all.access.keys.verify(key));
  all.access.usage.add(1, 1, Date.now());
  all.access.usage.flush();
  assert.equal(readUsage(all.access.keys.db, 1)[0]?.requests, counted + 1);
  assert.ok(all.walBytes() < MIN_WAL_BYTES / 16, `the log has ${all.walBytes()} bytes`);
});

test('the log is checked every minute', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const all = openAll(t);
  const counted = fillWal(all);
  t.mock.timers.tick(60_000);
  await all.checkpointer.close();
  assert.equal(all.countedInFile(), counted);
});

test('a short log is left alone, and closing waits for a running checkpoint', async (t) => {
  const all = openAll(t);
  all.access.usage.add(1, 1, Date.now());
  all.access.usage.flush();
  await all.checkpointer.checkpointIfLarge();
  assert.equal(all.countedInFile(), 0);
  const counted = fillWal(all) + 1;
  void all.checkpointer.checkpointIfLarge(); // does not know the size of the WAL yet
  await all.checkpointer.close();
  assert.equal(all.countedInFile(), counted);
});

test('a checkpoint that fails is logged, and the next one moves the log', async (t) => {
  const all = openAll(t);
  const counted = fillWal(all);
  const { path } = all;
  renameSync(path, `${path}.gone`);
  mkdirSync(path); // a thread cannot open it
  await all.checkpointer.checkpointIfLarge();
  assert.match(
    all.failures.join('\n'),
    /^warn the write-ahead log of keys.db cannot be checkpointed and grows/,
  );
  rmdirSync(path);
  renameSync(`${path}.gone`, path);
  await all.checkpointer.checkpointIfLarge();
  assert.equal(all.failures.length, 1);
  assert.equal(all.countedInFile(), counted);
});

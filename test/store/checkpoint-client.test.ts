/** Checkpoints on their own thread. */
import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { CheckpointClient } from '../../src/store/checkpoint-client.ts';
import { Checkpointer } from '../../src/store/checkpointer.ts';
import { openDatabase } from '../../src/store/open-database.ts';
import { SILENT } from '../support/logs.ts';
import { tempDir } from '../support/temp-dir.ts';
import { waitFor } from '../support/wait.ts';

/** Bytes of WAL, as a commit may leave them. */
const LARGE = 2 ** 30;
const SMALL = 2 ** 10;

const OPTIONS = { minWalBytes: 8 * 2 ** 20, log: SILENT };

interface Counts {
  log: number;
  checkpointed: number;
}

/** A file whose WAL only the thread moves; `insert` leaves a megabyte in it. */
function openFile(t: TestContext) {
  const path = join(tempDir(t), 'log.db');
  const db = openDatabase(path);
  t.after(() => db.close());
  db.pragma('wal_autocheckpoint = 0');
  db.exec('CREATE TABLE filler (bytes BLOB)');
  const insert = db.prepare('INSERT INTO filler VALUES (zeroblob(1000000))');
  const readCounts = db.prepare<[], Counts>('PRAGMA wal_checkpoint(NOOP)');
  const counts = (): Counts => readCounts.get() ?? { log: 0, checkpointed: 0 };
  return { path, insert, counts };
}

test('checkpoints the WAL while the writer runs, which then restarts it', async (t) => {
  const { path, insert, counts } = openFile(t);
  const checkpoints = new CheckpointClient(path, OPTIONS);
  t.after(() => checkpoints.close());
  for (let i = 0; i < 3; i++) {
    insert.run();
    checkpoints.checkpointIfLarge(LARGE);
    await checkpoints.whenIdle();
    const { log, checkpointed } = counts();
    assert.equal(checkpointed, log);
  }
  assert.ok(statSync(path).size > 3_000_000);
  const logBytes = statSync(`${path}-wal`).size;
  assert.ok(logBytes < 2_000_000, `the log has ${logBytes} bytes`);
});

test('a small log is left where it is, and closing waits for the checkpoint under way', async (t) => {
  const { path, insert, counts } = openFile(t);
  const checkpoints = new CheckpointClient(path, OPTIONS);
  insert.run();
  checkpoints.checkpointIfLarge(SMALL);
  await checkpoints.whenIdle();
  assert.equal(counts().checkpointed, 0);
  checkpoints.checkpointIfLarge(LARGE);
  await checkpoints.close();
  const { log, checkpointed } = counts();
  assert.ok(log > 0);
  assert.equal(checkpointed, log);
});

test('a failed checkpoint thread is reported, not waited for', async (t) => {
  const checkpoints = new CheckpointClient(join(tempDir(t), 'no-such-folder', 'log.db'), OPTIONS);
  checkpoints.checkpointIfLarge(LARGE);
  await assert.rejects(checkpoints.whenIdle(), /directory does not exist/);
  checkpoints.checkpointIfLarge(LARGE);
  await assert.rejects(checkpoints.whenIdle(), /directory does not exist/);
  await checkpoints.close();
});

test('an idle thread ends, and the next checkpoint starts another', async (t) => {
  const { path, insert, counts } = openFile(t);
  const checkpoints = new CheckpointClient(path, { ...OPTIONS, idleMs: 10 });
  t.after(() => checkpoints.close());
  for (let i = 0; i < 2; i++) {
    assert.equal(checkpoints.isStarted, false);
    insert.run();
    checkpoints.checkpointIfLarge(LARGE);
    await checkpoints.whenIdle();
    const { log, checkpointed } = counts();
    assert.equal(checkpointed, log);
    await waitFor(() => !checkpoints.isStarted, { what: 'the thread to end' });
  }
});

test('checkpoints the pages that a read holds when it ends, without waiting for a read that does not', async (t) => {
  const { path, insert, counts } = openFile(t);
  const reader = openDatabase(path, { readonly: true });
  t.after(() => reader.close());
  const checkpointer = new Checkpointer(path);
  t.after(() => checkpointer.close());
  reader.exec('BEGIN');
  reader.prepare('SELECT count(*) FROM filler').get();
  insert.run();
  await checkpointer.checkpointWal();
  assert.ok(counts().checkpointed < counts().log);
  const checkpoint = checkpointer.checkpointWal();
  reader.exec('COMMIT');
  await checkpoint;
  assert.equal(counts().checkpointed, counts().log);
});

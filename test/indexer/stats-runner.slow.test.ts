import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { test } from 'node:test';
import { setImmediate as settle } from 'node:timers/promises';
import { IndexStatsRunner, measureInThread } from '../../src/indexer/stats-runner.ts';
import type { IndexStats } from '../../src/model/index-stats.ts';
import { measureIndex } from '../../src/store/index-stats.ts';
import { type Db, openDatabase } from '../../src/store/open-database.ts';
import { createIndex, type NamedBlock } from '../support/index/index-fixture.ts';
import { SILENT } from '../support/logs.ts';
import { waitFor } from '../support/wait.ts';

/** Works on the file through its own connection. */
function inFile(path: string, work: (db: Db) => void): void {
  const db = openDatabase(path);
  work(db);
  db.close();
}

/** A block with one transfer of each given kind. */
function blockOf(n: number): NamedBlock {
  return {
    [`a${n}`]: [{ from: 'bob', to: `alice${n}` }],
    [`b${n}`]: [
      { kind: 'erc20', from: 'bob', to: 'alice' },
      { kind: 'erc20', from: 'alice', to: 'bob' },
    ],
    [`c${n}`]: [{ kind: 'native_internal', from: 'bob', to: 'alice' }],
  };
}

test('index stats count the transfers of each kind and the bytes of each table', (t) => {
  const index = createIndex(t);
  index.append(Array.from({ length: 200 }, (_, n) => blockOf(n)));
  inFile(index.path, (db) => db.pragma('wal_checkpoint(TRUNCATE)'));
  const stats = measureIndex(index.reader(t), index.path);

  assert.deepEqual(stats.kinds, {
    estimated: false,
    transfers: { native_direct: 200, native_internal: 200, erc20: 400, erc721: 0, erc1155: 0 },
  });
  assert.equal(stats.fileBytes, statSync(index.path).size);
  const sum = stats.tables.reduce((bytes, table) => bytes + table.bytes, 0);
  assert.ok(sum <= stats.fileBytes && sum > stats.fileBytes * 0.8, `${sum} of ${stats.fileBytes}`);
  assert.ok(stats.tables.some(({ name }) => name === 'wallets'));
  assert.equal(stats.unmeasured, null);
  assert.ok(stats.freeBytes > 0);
});

test('growth is that of the last day on the clock of the chain', (t) => {
  const index = createIndex(t);
  index.append([{}]);
  assert.equal(measureIndex(index.reader(t), index.path).growth, null);
  // Blocks of the fixture are two seconds apart: the first day has one transfer per block, the following time four.
  const day = 43_200;
  index.append(Array.from({ length: day }, (_, n) => ({ [`t${n}`]: [{ from: 'bob', to: 'alice' }] })));
  index.append(Array.from({ length: 100 }, (_, n) => blockOf(n)));
  const { growth, head, transfers } = measureIndex(index.reader(t), index.path);
  assert.equal(growth?.seconds, 86_400);
  assert.equal(growth?.transfersPerDay, day - 100 + 400);
  assert.equal(growth?.transfersPerBlock, (day - 100 + 400) / day);
  assert.deepEqual([transfers, head], [day + 400, 1 + day + 100]);
});

test('pages that are only in the write-ahead log count as part of the file', (t) => {
  const index = createIndex(t);
  const reader = index.reader(t);
  reader.exec('BEGIN');
  reader.prepare('SELECT count(*) FROM blocks').get(); // keeps the WAL from being checkpointed
  index.append(Array.from({ length: 2_000 }, (_, n) => blockOf(n)));
  const stats = measureIndex(index.reader(t), index.path);
  reader.exec('ROLLBACK');
  const before = statSync(index.path).size;
  inFile(index.path, (db) => db.pragma('wal_checkpoint(TRUNCATE)'));
  const after = statSync(index.path).size;
  assert.ok(after > before);
  assert.equal(stats.fileBytes, after);
});

test('a table that cannot be walked in time is left to the rest of the file', (t) => {
  const index = createIndex(t);
  const many = Array.from({ length: 300 }, (_, n) => ({ from: 'bob', to: `w${n}` }));
  for (let n = 0; n < 60; n++) index.append([{ [`t${n}`]: many }]);
  inFile(index.path, (db) => {
    db.exec('CREATE TABLE bulk (x); INSERT INTO bulk VALUES (zeroblob(50000000))');
    db.pragma('wal_checkpoint(TRUNCATE)');
  });
  const stats = measureIndex(index.reader(t), index.path, -1);
  assert.deepEqual(stats.unmeasured?.names, ['bulk']);
  assert.ok((stats.unmeasured?.bytes ?? 0) > 50_000_000);
  assert.ok(stats.tables.every(({ name }) => name !== 'bulk'));
});

test('index stats from a real thread arrive and are not measured again while fresh', async (t) => {
  const index = createIndex(t);
  index.append([blockOf(1)]);
  let now = 1_000_000_000_000;
  let started = 0;
  const failures: string[] = [];
  const statsRunner = new IndexStatsRunner(
    (signal) => {
      started++;
      return measureInThread(index.path, SILENT, signal);
    },
    (error) => failures.push(error.message),
    () => now,
  );
  t.after(() => statsRunner.close());
  assert.deepEqual(statsRunner.state(), { latest: null, failure: null });
  const { latest } = await waitFor(() => (statsRunner.state().latest ? statsRunner.state() : null), {
    what: 'the index stats',
  });
  assert.equal(latest?.kinds.transfers.erc20, 2);
  now += 59_999;
  statsRunner.state();
  assert.equal(started, 1);
});

test('a long measurement is repeated rarely, a failed one after a minute', async (t) => {
  const index = createIndex(t);
  index.append([{}]);
  const measured = measureIndex(index.reader(t), index.path);
  let now = 0;
  const failures: string[] = [];
  let played = Promise.withResolvers<IndexStats>();
  let started = 0;
  const statsRunner = new IndexStatsRunner(
    () => {
      started++;
      played = Promise.withResolvers();
      return played.promise;
    },
    (error) => failures.push(error.message),
    () => now,
  );
  statsRunner.state();
  played.reject(new Error('disk gone'));
  await settle();
  assert.deepEqual(statsRunner.state(), { latest: null, failure: 'disk gone' });
  assert.deepEqual(failures, ['disk gone']);
  assert.equal(started, 1);
  now = 60_000;
  statsRunner.state();
  assert.equal(started, 2);
  played.resolve({ ...measured, seconds: 30 });
  await settle();
  now += 2_999_999;
  assert.equal(statsRunner.state().failure, null);
  assert.equal(started, 2);
  now += 1;
  statsRunner.state();
  assert.equal(started, 3);
});

test('a close abandons a measurement, without a failure', async (t) => {
  const index = createIndex(t);
  const failures: string[] = [];
  const statsRunner = new IndexStatsRunner(
    (signal) => measureInThread(index.path, SILENT, signal),
    (error) => failures.push(error.message),
  );
  statsRunner.state();
  await statsRunner.close();
  assert.deepEqual(failures, []);
  assert.deepEqual(statsRunner['running'], null);
});

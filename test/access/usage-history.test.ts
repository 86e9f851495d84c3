import assert from 'node:assert/strict';
import { readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { openKeyStore } from '../../src/access/keys.ts';
import { KEYS_APPLICATION_ID, KEYS_SCHEMA_V1 } from '../../src/access/keys-file.ts';
import { HISTORY_HOURS, UsageCounter } from '../../src/access/usage.ts';
import { readUsage, sumUsageByHour } from '../../src/access/usage-tables.ts';
import { usageHistory } from '../../src/server/admin/keys.ts';
import { openDatabase } from '../../src/store/open-database.ts';
import { tempDir } from '../support/temp-dir.ts';

const HOUR = 3_600_000;
/** 21 November 2026, 10:00 UTC. */
const TEN = Date.UTC(2026, 10, 21, 10);

function openUsage(t: TestContext, now: number) {
  const store = openKeyStore(join(tempDir(t), 'keys.db'));
  t.after(() => store.close());
  const failures: (string | null)[] = [];
  const usage = new UsageCounter(store.db, now, (error) => failures.push(error?.message ?? null));
  t.after(() => usage.close());
  const hours = (key?: number) =>
    sumUsageByHour(store.db, 0, key).map(({ hour, requests }) => [hour - TEN / HOUR, requests]);
  return { store, usage, failures, hours };
}

/** Makes reading the file fail, as on a failing disk, until the returned function is called. */
function makeUnreadable(path: string): () => void {
  const other = openKeyStore(path);
  other.create({ name: 'app', tier: 'free' }); // every connection must read it again
  other.close();
  const wal = readFileSync(`${path}-wal`);
  truncateSync(`${path}-wal`);
  return () => writeFileSync(`${path}-wal`, wal);
}

test('the last use of a key is known to the moment in this run, and to the hour in the next', (t) => {
  const { store, usage } = openUsage(t, TEN);
  assert.equal(usage.lastUse(1), null);
  usage.add(1, 5, TEN + 1_234);
  assert.equal(usage.lastUse(1), TEN + 1_234);
  usage.flush();
  const next = new UsageCounter(store.db, TEN + HOUR);
  t.after(() => next.close());
  assert.deepEqual([next.lastUse(1), next.lastUse(2)], [TEN, null]);
});

test('each hour has its own count within the month', (t) => {
  const { store, usage, hours } = openUsage(t, TEN);
  usage.add(1, 5, TEN + 1);
  usage.add(2, 1, TEN + 2);
  usage.add(1, 2, TEN + HOUR);
  usage.add(1, 4, TEN + 3 * HOUR - 1);
  usage.flush();
  assert.deepEqual(hours(1), [
    [0, 5],
    [1, 2],
    [2, 4],
  ]);
  assert.deepEqual(hours(2), [[0, 1]]);
  assert.equal(readUsage(store.db, 1)[0]?.requests, 11);
});

test('a restart continues the count of the current hour', (t) => {
  const { store, usage, hours } = openUsage(t, TEN);
  usage.add(1, 5, TEN);
  usage.add(1, 3, TEN + HOUR);
  usage.close();
  const next = new UsageCounter(store.db, TEN + HOUR + 10);
  next.add(1, 2, TEN + HOUR + 20);
  next.close();
  assert.deepEqual(hours(1), [
    [0, 5],
    [1, 5],
  ]);
  assert.equal(readUsage(store.db, 1)[0]?.requests, 10);
});

test('the monthly count restarts with the first hour of the month, the history continues', (t) => {
  const lastHour = Date.UTC(2026, 10, 30, 23);
  const { store, usage } = openUsage(t, lastHour);
  usage.add(1, 7, lastHour);
  usage.add(1, 2, lastHour + HOUR);
  usage.flush();
  assert.deepEqual(
    readUsage(store.db, 1).map(({ month, requests }) => [month, requests]),
    [
      [202612, 2],
      [202611, 7],
    ],
  );
  assert.deepEqual(
    sumUsageByHour(store.db, 0, 1).map(({ requests }) => requests),
    [7, 2],
  );
});

test('hours older than the history are deleted', (t) => {
  const { usage, hours } = openUsage(t, TEN);
  usage.add(1, 5, TEN);
  usage.add(1, 6, TEN + HOUR);
  usage.add(1, 7, TEN + HISTORY_HOURS * HOUR);
  usage.flush();
  assert.deepEqual(hours(1), [
    [1, 6],
    [HISTORY_HOURS, 7],
  ]);
});

test('a clock that is years ahead for a while keeps the history', (t) => {
  const { store, usage, hours } = openUsage(t, TEN);
  for (let hour = 0; hour < 5; hour++) usage.add(1, 1, TEN + hour * HOUR);
  const ahead = TEN + 100 * HISTORY_HOURS * HOUR;
  for (let flush = 0; flush < 5; flush++) {
    usage.add(1, 7, ahead);
    usage.flush();
  }
  usage.add(1, 2, TEN + 5 * HOUR);
  assert.deepEqual(hours(1).slice(0, 4), [
    [1, 1],
    [2, 1],
    [3, 1],
    [4, 1],
  ]);
  const shown = usageHistory({ keys: store, usage }, { key: 1, days: 31 }, TEN + 5 * HOUR);
  assert.match(JSON.stringify(shown), /"at":"2026-11-21T15:00:00.000Z","requests":2}\]/, 'no hour to come');
});

test('a version 1 keys file is migrated and keeps its contents', (t) => {
  const path = join(tempDir(t), 'keys.db');
  const old = openDatabase(path);
  old.exec(KEYS_SCHEMA_V1);
  old.pragma(`application_id = ${KEYS_APPLICATION_ID}`);
  old.pragma('user_version = 1');
  old.exec('INSERT INTO usage (key, month, requests) VALUES (1, 202611, 40)');
  old.close();

  const store = openKeyStore(path);
  t.after(() => store.close());
  const usage = new UsageCounter(store.db, TEN);
  usage.add(1, 2, TEN);
  usage.close();
  assert.equal(readUsage(store.db, 1)[0]?.requests, 42);
  assert.deepEqual(sumUsageByHour(store.db, 0, 1), [{ hour: TEN / HOUR, requests: 2 }]);
});

test('a corrected clock continues the counts of its month and hour, in either direction', (t) => {
  const { store, usage, hours } = openUsage(t, TEN);
  const DAYS = 25 * 24 * HOUR;
  const months = () => readUsage(store.db, 1).map(({ month, requests }) => [month, requests]);
  usage.add(1, 5, TEN);
  usage.add(1, 1, TEN + DAYS);
  usage.add(1, 2, TEN + 1);
  assert.equal(usage.used(1, TEN + 2), 7, 'no quota is had twice');
  assert.equal(usage.monthEndsAt, Date.UTC(2026, 11, 1));
  usage.add(1, 3, TEN - DAYS);
  usage.add(1, 4, TEN + HOUR);
  usage.add(1, 1, TEN + 3);
  usage.flush();
  assert.deepEqual(months(), [
    [202612, 1],
    [202611, 12],
    [202610, 3],
  ]);
  assert.deepEqual(
    hours(1).filter(([hour]) => hour === 0 || hour === 1),
    [
      [0, 8],
      [1, 4],
    ],
  );
});

test('a month that begins while the file is unreadable is counted in memory and completed later', (t) => {
  const { store, usage, failures } = openUsage(t, TEN);
  const DECEMBER = Date.UTC(2026, 11, 1);
  usage.add(1, 5, TEN);
  usage.flush();
  const makeReadable = makeUnreadable(store.db.name);
  assert.equal(usage.used(1, TEN - HOUR), 5, 'within the month the clock may be put right');
  assert.equal(usage.used(1, DECEMBER), 0);
  usage.add(1, 2, DECEMBER);
  usage.flush();
  usage.add(1, 4, DECEMBER + HOUR);
  assert.equal(usage.used(1, DECEMBER + HOUR), 6);
  usage.add(1, 3, TEN); // a corrected clock, in a month for which the file has a count
  assert.equal(usage.used(1, TEN), 3);
  assert.equal(failures.length, 1);
  assert.match(failures[0] ?? '', /the disk or the file system fails/);

  makeReadable();
  usage.flush();
  assert.equal(usage.used(1, TEN), 8);
  assert.deepEqual(failures.slice(1), [null]);
  assert.deepEqual(
    readUsage(store.db, 1).map(({ month, requests }) => [month, requests]),
    [
      [202612, 6],
      [202611, 8],
    ],
  );
  assert.deepEqual(
    sumUsageByHour(store.db, 0, 1).map(({ requests }) => requests),
    [8, 2, 4],
  );
});

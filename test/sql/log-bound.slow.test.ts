/** Queries of several processes keep the write-ahead log of the index from starting over for a bounded time only. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { pause } from '../../src/lib/async.ts';
import { QueryProcess } from '../../src/sql/process/query-process.ts';
import { ReadingQuery, readingQueries } from '../../src/sql/process/reading-queries.ts';
import { logBytes } from '../../src/sql/process/usage.ts';
import { openDatabase } from '../../src/store/open-database.ts';
import { createIndex, type IndexFixture } from '../support/index/index-fixture.ts';
import { grow } from '../support/sink/sink.ts';
import { waitFor } from '../support/wait.ts';

const LIMITS = { rows: 1000, bytes: 1 << 20 };
const COUNT = { text: 'SELECT count(*) FROM blocks', limits: LIMITS };
const ENDLESS = {
  text: 'WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c',
  limits: LIMITS,
};
const BOUND = 2 ** 20;

function index(t: TestContext): IndexFixture {
  const fixture = createIndex(t, 1);
  grow(fixture, 20, 1);
  return fixture;
}

function start(t: TestContext, { path }: IndexFixture): QueryProcess {
  const queries = new QueryProcess({ logBytes: BOUND }).open(path);
  t.after(() => queries.close());
  return queries;
}

const reading = (count: number, { path }: IndexFixture) =>
  waitFor(() => readingQueries(path).count === count, { what: `${count} queries that read` });

/** The log can start over. */
function assertNothingHeld({ path }: IndexFixture): void {
  const db = openDatabase(path);
  assert.deepEqual(db.pragma('wal_checkpoint(TRUNCATE)'), [{ busy: 0, log: 0, checkpointed: 0 }]);
  db.close();
}

test('the size of the log is read without a change to the locks of this process', (t) => {
  const { path } = index(t);
  const { ino } = statSync(`${path}-shm`);
  const locks = () =>
    readFileSync('/proc/locks', 'utf8')
      .split('\n')
      .filter((line) => line.includes(` ${process.pid} `) && line.includes(`:${ino} `))
      .map((line) => line.replace(/^\d+: /, ''))
      .sort();
  const before = locks();
  assert.ok(before.length > 0);
  assert.ok(logBytes(path) > 0);
  assert.deepEqual(locks(), before);
});

test('above the bound no query begins, and those that read end one after the other, the oldest first', async (t) => {
  const fixture = index(t);
  const ended: string[] = [];
  const endless = async (name: string, queries: QueryProcess) => {
    await assert.rejects(queries.run(ENDLESS, { timeoutMs: 600_000 }), /held them back/);
    ended.push(name);
  };
  const [first, second, third] = [start(t, fixture), start(t, fixture), start(t, fixture)];
  const all = [endless('first', first)];
  await reading(1, fixture);
  all.push(endless('second', second));
  await reading(2, fixture);
  let salt = 2;
  while (logBytes(fixture.path) <= BOUND) grow(fixture, 40, salt++);
  const answer = third.run(COUNT).then(({ rows }) => {
    ended.push('third');
    return Number(rows[0]?.[0]);
  });
  while (ended.length < 3) {
    grow(fixture, 4, salt++);
    await pause(50);
  }
  assert.deepEqual(ended, ['first', 'second', 'third']);
  assert.ok((await answer) > 60);
  await Promise.all(all);
  assertNothingHeld(fixture);
  assert.deepEqual(readingQueries(fixture.path), { count: 0, oldestMs: null });
});

test('a process that waits for the next query holds nothing back', async (t) => {
  const fixture = index(t);
  const queries = start(t, fixture);
  for (const text of [
    COUNT.text,
    'SELECT id FROM transfers LIMIT 1',
    'SELECT sum_amount(transfer_type) FROM transfers',
    'SELECT a.id FROM transfers a, transfers b',
  ]) {
    await queries.run({ text, limits: { rows: 3, bytes: 1_000 } }).catch(() => undefined);
    assert.equal(readingQueries(fixture.path).count, 0);
    grow(fixture, 1, 99);
    assertNothingHeld(fixture);
  }
});

test('queries know which of them began first, and forget those that nobody watches', async (t) => {
  const { path } = index(t);
  const first = new ReadingQuery(path);
  await pause(5);
  const second = new ReadingQuery(path);
  assert.deepEqual([first.isOldest(), second.isOldest(), readingQueries(path).count], [true, false, 2]);
  assert.ok((readingQueries(path).oldestMs ?? -1) >= 0);
  first.end();
  assert.deepEqual([second.isOldest(), readingQueries(path).count], [true, 1]);
  const lost = join(dirname(path), 'index.db-query-1700000000000-7-lost');
  writeFileSync(lost, '');
  assert.equal(second.isOldest(), false);
  utimesSync(lost, 1_700_000_000, 1_700_000_000);
  assert.equal(second.isOldest(), true);
  second.show();
  second.end();
  assert.deepEqual(
    readdirSync(dirname(path)).filter((name) => name.includes('-query-')),
    [],
  );
});

test('in a folder that cannot be written, a query is alone', () => {
  const query = new ReadingQuery('/nowhere/index.db');
  query.show();
  assert.ok(query.isOldest());
  query.end();
  assert.deepEqual(readingQueries('/nowhere/index.db'), { count: 0, oldestMs: null });
});

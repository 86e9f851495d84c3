/** A query that takes too much is ended, and the next one runs. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { pause } from '../../src/lib/async.ts';
import { QueryPool } from '../../src/sql/process/query-pool.ts';
import { type ProcessLimits, QueryProcess } from '../../src/sql/process/query-process.ts';
import { logBytes } from '../../src/sql/process/usage.ts';
import { LAUNCHER, run } from '../support/daemon/command.ts';
import { createIndex, type IndexFixture } from '../support/index/index-fixture.ts';
import { grow } from '../support/sink/sink.ts';
import { tempDir } from '../support/temp-dir.ts';

const LIMITS = { rows: 1000, bytes: 1 << 20 };
const ENDLESS = 'WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c';

function index(t: TestContext): IndexFixture {
  const fixture = createIndex(t, 1);
  grow(fixture, 20, 1);
  return fixture;
}

function start(t: TestContext, fixture: IndexFixture, limits: Partial<ProcessLimits> = {}): QueryProcess {
  const queries = new QueryProcess(limits).open(fixture.path);
  t.after(() => queries.close());
  return queries;
}

async function answerOf(queries: QueryProcess, text: string): Promise<unknown> {
  return (await queries.run({ text, limits: LIMITS })).rows[0]?.[0];
}

test('a query that never ends, and one that is no longer wanted, are ended; the next one is answered', async (t) => {
  const queries = start(t, index(t));
  await assert.rejects(queries.run({ text: ENDLESS, limits: LIMITS }, { timeoutMs: 300 }), {
    name: 'QueryLimitError',
    message: 'ended after 0.3 s: ask for less',
  });
  assert.equal(await answerOf(queries, 'SELECT count(*) FROM blocks'), 20);
  const stop = new AbortController();
  const ended = queries.run({ text: ENDLESS, limits: LIMITS }, { signal: stop.signal });
  setTimeout(() => stop.abort(), 200);
  await assert.rejects(ended, { name: 'QueryLimitError', message: 'ended on request' });
  assert.equal(await answerOf(queries, 'SELECT count(*) FROM blocks'), 20);
});

test('a query that takes too much memory, or too many temporary files, is ended', async (t) => {
  const folder = tempDir(t);
  symlinkSync(folder, join(folder, 'link'));
  const before = process.env.TMPDIR;
  process.env.TMPDIR = join(folder, 'link'); // the system names files by the folder behind it
  t.after(() => {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
  });
  const fixture = index(t);
  const queries = start(t, fixture, {
    memoryBytes: 256 * 2 ** 20,
    temporaryBytes: 2 ** 20,
    startMs: 120_000,
  });
  // Neither ends by itself, however seldom a busy machine lets the watch look, nor in the time of an ordinary query.
  const endOf = (text: string) => queries.run({ text, limits: LIMITS }, { timeoutMs: 120_000 });
  const counting = 'WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c)';
  const large = `${counting} SELECT max(length(hex(zeroblob(2e8)) || x)) FROM c`;
  await assert.rejects(endOf(large), /more than 256 MiB of memory/);
  const sorting = `${counting} SELECT x, hex(randomblob(99)) r FROM c ORDER BY r`;
  await assert.rejects(endOf(sorting), /more than 1 MiB of temporary files/);
  assert.equal(await answerOf(queries, 'SELECT count(*) FROM blocks'), 20);
});

test('a query that keeps the log of the index from starting over is ended', async (t) => {
  const fixture = index(t);
  const queries = start(t, fixture, { logBytes: 2 ** 20 });
  assert.ok(logBytes(fixture.path) > 0);
  const ended = queries.run({ text: ENDLESS, limits: LIMITS }, { timeoutMs: 120_000 });
  let isEnded = false;
  ended
    .catch(() => undefined)
    .finally(() => {
      isEnded = true;
    });
  for (let salt = 2; !isEnded; salt++) {
    grow(fixture, 40, salt);
    await pause(20);
  }
  await assert.rejects(ended, /held them back/);
});

test('mistakes are told as such, and what a query says about its plan comes first', async (t) => {
  const queries = start(t, index(t));
  const onPlan = () => assert.fail('a query that cannot run reads nothing');
  await assert.rejects(queries.run({ text: 'SELECT missing FROM blocks', limits: LIMITS }, { onPlan }), {
    name: 'QueryRefusal',
    message: /^no such column: missing; blocks has number, hash, /,
  });
  const told: string[] = [];
  await queries.run(
    { text: 'SELECT count(*) FROM transfers', limits: LIMITS },
    {
      onPlan: ({ plan }) =>
        told.push(...plan.map(({ table, scannedRows }) => `${table} ${Number(scannedRows) > 100}`)),
    },
  );
  assert.deepEqual(told, ['transfers true']);
});

test('lists of [trades] longer than an argument of a process may be are no error', async (t) => {
  const feeSinks = Array.from({ length: 5_000 }, (_, i) => `0x${i.toString(16).padStart(40, '0')}`);
  const queries = new QueryProcess().open(index(t).path, { feeSinks });
  t.after(() => queries.close());
  assert.equal(await answerOf(queries, 'SELECT count(*) FROM blocks'), 20);
});

test('the process goes behind those of other sessions, too', async (t) => {
  const queries = start(t, index(t));
  await answerOf(queries, 'SELECT 1');
  const file = `/proc/${Reflect.get(queries, 'child').pid}/autogroup`;
  if (!existsSync(file) || process.getuid?.() !== 0)
    return t.skip('no groups, or few changes a second of them');
  assert.match(readFileSync(file, 'utf8'), / nice 10\n/);
});

test('an index that cannot be read is an error of the operator', async (t) => {
  const queries = new QueryProcess().open('/nowhere/index.db');
  t.after(() => queries.close());
  await assert.rejects(queries.run({ text: 'SELECT 1', limits: LIMITS }), { name: 'QueryStartError' });
});

test('a pool runs two queries at a time, lets eight wait and refuses more', async (t) => {
  const pool = new QueryPool(index(t).path, {});
  t.after(() => pool.close());
  const ask = (text: string, timeoutMs: number) => pool.run({ text, limits: LIMITS }, { timeoutMs });
  const endless = [ask(ENDLESS, 2_000), ask(ENDLESS, 2_000)].map((ended) =>
    assert.rejects(ended, { name: 'QueryLimitError' }),
  );
  const waiting = Array.from({ length: 8 }, () => ask('SELECT count(*) FROM blocks', 60_000));
  assert.deepEqual([pool.state().running, pool.state().waiting], [2, 8]);
  await assert.rejects(ask('SELECT 1', 1_000), { name: 'BusyError', status: 429 });
  await Promise.all(endless);
  for (const answer of await Promise.all(waiting)) assert.deepEqual(answer.rows, [[20]]);
  assert.deepEqual([pool.state().running, pool.state().waiting], [0, 0]);
  const { answered, busy, timeout } = pool.ended;
  assert.deepEqual({ answered, busy, timeout }, { answered: 8, busy: 1, timeout: 2 });
});

test('atlas-node sql prints an answer as a table, JSON or CSV, and what to know about it', async (t) => {
  const fixture = index(t);
  const cwd = dirname(fixture.path);
  const sql = (...args: string[]) => run(t, [LAUNCHER, 'sql', '--data-dir', cwd, ...args], { cwd });
  const table = await sql(
    'SELECT number, NULL AS empty FROM blocks WHERE transfers >= 0 ORDER BY number DESC LIMIT 2',
  );
  assert.match(
    table.stdout,
    /^number {2}empty\n +20 +null\n +19 +null\n\n2 rows as of block 20 \(0x[0-9a-f]{8}\), .* s; no trace gaps\n$/,
  );
  assert.match(table.stderr, /^scans blocks, about 20 rows: .*"atlas-node export blocks"\n$/);
  const schema = await run(t, [LAUNCHER, 'sql', '.schema holders'], { cwd: '/' });
  assert.match(
    schema.stdout,
    /^holders\(token_address text, holder_address text, .*\)\n$/,
    'without an index',
  );
  const byHash = await sql(`SELECT id FROM transfers WHERE tx_hash = '0x${'ab'.repeat(32)}'`);
  assert.match(
    byHash.stderr,
    /^scans transfers, .* no index has transactions by hash, so name the block [^\n]*\n$/,
  );
  const json = await sql(
    '--format',
    'json',
    '--limit',
    '1',
    'SELECT number, number FROM blocks WHERE number > 18',
  );
  const { rows, cut, head, columns, gaps, damage } = JSON.parse(json.stdout);
  assert.deepEqual(
    [rows, cut, head.number, columns, gaps, damage],
    [[{ number: 20, number_2: 20 }], 'rows', 20, ['number', 'number_2'], 0, null],
  );
  assert.match(json.stderr, /^1 row as of block 20 .* cut: raise --limit/);
  const asText = await sql('--format', 'csv', 'SELECT 1 AS a FROM blocks, holders ORDER BY balance LIMIT 1');
  assert.match(asText.stderr, /\norders or compares balance as text, [^\n]*: write balance_real\n/);
  assert.equal(asText.stdout, 'a\n1\n');
  const csv = await sql('--format', 'csv', "SELECT 1 AS a, '=x,\"y' AS b");
  assert.equal(csv.stdout, `a,b\n1,"'=x,""y"\n`);
  assert.equal(table.code, 0);

  const wrong = await sql('DELETE FROM blocks');
  assert.deepEqual([wrong.code, wrong.stdout], [2, '']);
  assert.match(wrong.stderr, /^atlas-node: only queries are run: [^\n]*\n$/);
  const slow = await sql('--timeout', '1', ENDLESS);
  assert.deepEqual(
    [slow.code, slow.stderr],
    [1, 'atlas-node: ended after 1 s: ask for less, or raise --timeout\n'],
  );
  const zero = await sql('--limit', '0', 'SELECT 1');
  assert.equal(zero.code, 2);
});

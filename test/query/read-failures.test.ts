import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { RequestError } from '../../src/lib/errors.ts';
import { createMetrics } from '../../src/metrics/metrics.ts';
import { ReadFailures } from '../../src/query/read-failures.ts';

function sqlite(code: string): Error {
  return Object.assign(new Error(`from SQLite (${code})`), { code });
}

function recorder(t: TestContext) {
  const lines: { fields: Record<string, unknown>; msg: string }[] = [];
  const clock = { now: 0 };
  const metrics = createMetrics();
  t.after(() => metrics.close());
  const log = {
    debug() {},
    info() {},
    warn() {},
    error: (fields: Record<string, unknown>, msg: string) => void lines.push({ fields, msg }),
  };
  return { failures: new ReadFailures({ log, metrics, clock: () => clock.now }), lines, clock, metrics };
}

function refusalOf(failures: ReadFailures, code: string): [number, string] {
  const error = failures.record(sqlite(code));
  assert.ok(error instanceof RequestError, code);
  assert.doesNotMatch(error.message, /SQLite|SQLITE|index\.db/, 'clients learn no detail');
  return [error.status, error.code];
}

test('a failed read is 500 for damage, 503 for a failure of the disk that may pass', (t) => {
  const { failures } = recorder(t);
  for (const code of ['SQLITE_CORRUPT', 'SQLITE_CORRUPT_INDEX', 'SQLITE_NOTADB'])
    assert.deepEqual(refusalOf(failures, code), [500, 'internal']);
  for (const code of ['SQLITE_IOERR_READ', 'SQLITE_CANTOPEN', 'SQLITE_FULL', 'SQLITE_BUSY_SNAPSHOT'])
    assert.deepEqual(refusalOf(failures, code), [503, 'storage']);
});

test('an error unrelated to file and disk is returned unchanged', (t) => {
  const { failures, lines } = recorder(t);
  for (const error of [new Error('a defect'), sqlite('SQLITE_ERROR'), new RequestError(404, 'not_found', '')])
    assert.equal(failures.record(error), error);
  assert.equal(failures.current(), null);
  assert.equal(lines.length, 0);
});

test('a failure of the disk leaves the status after a minute without another', (t) => {
  const { failures, clock } = recorder(t);
  failures.record(sqlite('SQLITE_IOERR_READ'));
  assert.match(failures.current() ?? '', /^index\.db cannot be read: the disk or the file system fails/);
  clock.now = 59_000;
  failures.record(sqlite('SQLITE_IOERR_READ'));
  clock.now = 118_000;
  assert.match(failures.current() ?? '', /cannot be read/);
  clock.now = 119_000;
  assert.equal(failures.current(), null);
});

test('damage stays in the status until the failed read succeeds', async (t) => {
  const { failures, clock } = recorder(t);
  let isDamaged = true;
  let reads = 0;
  const read = (): void => {
    reads++;
    if (isDamaged) throw failures.record(sqlite('SQLITE_CORRUPT'), read);
  };
  assert.throws(read);
  const advice = /^index\.db is damaged or its disk fails .*stop atlas-node, move it away and start again/;
  for (clock.now = 0; clock.now < 7_200_000; clock.now += 1_000)
    assert.match(failures.current() ?? '', advice);
  assert.ok(reads > 600 && reads < 800, `${reads} reads, about one in ten seconds`);
  isDamaged = false;
  clock.now += 10_000;
  failures.current();
  await nextTurn();
  assert.equal(failures.current(), null);
});

test('damage that cannot be rechecked leaves the status after two minutes', (t) => {
  const { failures, clock } = recorder(t);
  failures.record(sqlite('SQLITE_CORRUPT'));
  clock.now = 119_000;
  assert.match(failures.current() ?? '', /is damaged/);
  clock.now = 120_000;
  assert.equal(failures.current(), null);
});

test('failures are logged every ten minutes with their number, and all are counted', async (t) => {
  const { failures, lines, clock, metrics } = recorder(t);
  for (let i = 0; i < 1_000; i++) failures.record(sqlite('SQLITE_CORRUPT'));
  assert.equal(lines.length, 1);
  clock.now = 600_000;
  failures.record(sqlite('SQLITE_CORRUPT'));
  assert.deepEqual(
    lines.map(({ fields, msg }) => [msg, fields.failures]),
    [
      ['the index cannot be read', 1],
      ['the index cannot be read', 1_000],
    ],
  );
  assert.match(await metrics.render(), /atlas_index_read_failures_total\{cause="damage"\} 1001/);
});

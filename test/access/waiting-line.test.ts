import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { openKeyStore } from '../../src/access/keys.ts';
import { type AdmissionResult, Limiter } from '../../src/access/limiter.ts';
import { UsageCounter } from '../../src/access/usage.ts';
import { type Leave, WaitingLine } from '../../src/access/waiting-line.ts';
import { tempDir } from '../support/temp-dir.ts';

const TIERS = {
  free: { requests_per_month: 0, requests_per_second: 5, chain_depth: 5 },
  tiny: { requests_per_month: 3, requests_per_second: 0, chain_depth: 5 },
};

/** A line with an empty bucket, whose timers and clock the test controls. */
function setUp(t: TestContext, { tier = 'free', waitMs = 8_000 } = {}) {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'], now: Date.UTC(2026, 10, 21, 8) });
  let elapsed = 0;
  t.mock.method(performance, 'now', () => elapsed);
  const store = openKeyStore(join(tempDir(t), 'keys.db'));
  const usage = new UsageCounter(store.db);
  t.after(() => {
    usage.close();
    store.close();
  });
  const key = store.create({ name: 'app', tier }).record;
  const limiter = new Limiter(TIERS, usage);
  const line = new WaitingLine(limiter, waitMs);
  const turns: [name: string, outcome: string][] = [];
  return {
    limiter,
    line,
    key,
    turns,
    names: () => turns.map(([name]) => name).join(''),
    /** `age`: how long ago it arrived. */
    enter(name: string, calls = 1, bytes = 100, age = 0): AdmissionResult | Leave {
      return line.enter({
        record: key,
        calls,
        bytes,
        arrivedAt: elapsed - age,
        onDecided: (turn) => turns.push([name, turn === null ? 'invalid' : turn.ok ? 'ok' : turn.code]),
      });
    },
    tick(ms: number) {
      for (let i = 0; i < ms; i++) {
        elapsed++;
        t.mock.timers.tick(1);
      }
    },
  };
}

const hasToWait = (outcome: AdmissionResult | Leave): outcome is Leave => typeof outcome === 'function';

test('calls over the rate are admitted in order, at the rate', (t) => {
  const { enter, tick, names, turns } = setUp(t);
  for (const name of 'abcde') assert.ok(!hasToWait(enter(name)));
  for (const name of 'fghij') assert.ok(hasToWait(enter(name)));
  tick(199);
  assert.equal(names(), '');
  tick(1);
  assert.equal(names(), 'f');
  tick(400);
  assert.equal(names(), 'fgh');
  tick(400);
  assert.deepEqual(
    turns,
    [...'fghij'].map((name) => [name, 'ok']),
  );
  tick(200);
  assert.ok(!hasToWait(enter('k')), 'nobody waits any more');
});

test('a new call waits behind earlier ones', (t) => {
  const { enter, tick, names } = setUp(t);
  enter('a', 5);
  assert.ok(hasToWait(enter('batch', 100)));
  tick(300);
  assert.ok(hasToWait(enter('b')), 'there is one token, but the batch needs all five');
  tick(699);
  assert.equal(names(), '');
  tick(1);
  assert.equal(names(), 'batchb', 'the second shares the allowance of the large batch');
});

test('after the longest wait the call is refused with the time until it would be admitted', (t) => {
  const { enter, tick, turns } = setUp(t);
  enter('a', 1_000);
  enter('a', 24);
  assert.ok(hasToWait(enter('b')));
  tick(7_999);
  assert.deepEqual(turns, []);
  tick(1);
  assert.deepEqual(turns, [['b', 'rate_limited']]);
});

test('calls refused after waiting get Retry-After values spread at the rate', (t) => {
  const { line, key, limiter, tick } = setUp(t);
  limiter.take(key, 5);
  const returns: number[] = [];
  for (let i = 0; i < 100; i++) {
    const onDecided = (turn: AdmissionResult | null) => {
      if (turn !== null && !turn.ok) returns.push(turn.retryAfter);
    };
    assert.ok(hasToWait(line.enter({ record: key, calls: 1, bytes: 100, arrivedAt: 0, onDecided })));
  }
  tick(8_000);
  assert.equal(returns.length, 60, 'forty had their turn within 8 s');
  assert.deepEqual(
    returns,
    Array.from({ length: 60 }, (_, i) => Math.ceil((i + 1) / 5)),
  );
  let admitted = 0;
  for (const at of new Set(returns)) {
    tick(1_000);
    for (const seconds of returns) if (seconds === at && limiter.take(key, 1).ok) admitted++;
  }
  assert.equal(admitted, 60, 'each is admitted at the time it was given');
});

test('the wait counts from the arrival of a call', (t) => {
  const { enter, tick, turns } = setUp(t);
  enter('a', 5);
  for (const [name, age] of [
    ['b', 9_000],
    ['c', 9_000],
    ['d', 7_500],
    ['e', 0],
  ] as const) {
    assert.ok(hasToWait(enter(name, 1, 100, age)));
  }
  tick(200);
  assert.deepEqual(
    turns,
    [
      ['b', 'ok'],
      ['c', 'rate_limited'],
    ],
    'the one token goes to the first, and the next has waited too long',
  );
  tick(400);
  assert.deepEqual(turns.slice(2), [
    ['d', 'ok'],
    ['e', 'ok'],
  ]);
});

test('when a client leaves, the next call moves up', (t) => {
  const { enter, tick, names } = setUp(t);
  enter('a', 5);
  const leave = enter('b', 5);
  const leaveLast = enter('c');
  assert.ok(hasToWait(enter('d')));
  assert.ok(hasToWait(leave) && hasToWait(leaveLast));
  tick(250);
  leave();
  leaveLast();
  leave();
  tick(1);
  assert.equal(names(), 'd');
});

test('a line is bounded in requests and bytes; further calls are refused at once', (t) => {
  const { enter, limiter, key } = setUp(t);
  limiter.take(key, 5);
  for (let i = 0; i < 1_000; i++) assert.ok(hasToWait(enter(`${i}`)));
  const refused = enter('one more');
  assert.ok(!hasToWait(refused) && !refused.ok);
  assert.equal(refused.retryAfter, 201, 'behind a thousand');
});

test('waiting bodies of a key take at most 8 MiB', (t) => {
  const { enter, limiter, key } = setUp(t);
  limiter.take(key, 5);
  for (let i = 0; i < 4; i++) assert.ok(hasToWait(enter(`${i}`, 1, 2 * 2 ** 20)));
  assert.ok(!hasToWait(enter('one more', 1, 1)));
});

test('calls over the quota are refused at once', (t) => {
  const used = setUp(t, { tier: 'tiny' });
  used.enter('a', 3);
  const refused = used.enter('b');
  assert.ok(!hasToWait(refused) && !refused.ok);
  assert.equal(refused.code, 'quota_exceeded');
});

test('with waiting disabled, calls are refused at once', (t) => {
  const strict = setUp(t, { waitMs: 0 });
  strict.enter('a', 5);
  assert.ok(!hasToWait(strict.enter('b')));
});

test('waiting requests of a revoked key are refused', (t) => {
  const { enter, line, key, tick, turns } = setUp(t);
  enter('a', 5);
  enter('b');
  line.expel([key.id + 1]);
  assert.deepEqual(turns, []);
  line.expel([key.id]);
  assert.deepEqual(turns, [['b', 'invalid']]);
  tick(10_000);
  assert.equal(turns.length, 1);
});

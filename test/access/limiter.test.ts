import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { openKeyStore } from '../../src/access/keys.ts';
import { Limiter, type Tiers, tierOf } from '../../src/access/limiter.ts';
import { UsageCounter } from '../../src/access/usage.ts';
import { readUsage } from '../../src/access/usage-tables.ts';
import { tempDir } from '../support/temp-dir.ts';

const TIERS: Tiers = {
  free: { requests_per_month: 0, requests_per_second: 5, chain_depth: 5 },
  small: { requests_per_month: 10, requests_per_second: 0, chain_depth: 5 },
  both: { requests_per_month: 7, requests_per_second: 5, chain_depth: 5 },
  unlimited: { requests_per_month: 0, requests_per_second: 0, chain_depth: 10 },
};

const NOVEMBER_21 = Date.UTC(2026, 10, 21, 8);
const DECEMBER = Date.UTC(2026, 11, 1);

/** A limiter over a real file, with a clock controlled by the test. */
function setUp(t: TestContext, tier: string) {
  const store = openKeyStore(join(tempDir(t), 'keys.db'));
  const key = store.create({ name: 'app', tier }).record;
  const clock = { now: NOVEMBER_21 };
  const usage = new UsageCounter(store.db, clock.now);
  t.after(() => {
    usage.close();
    store.close();
  });
  const limiter = new Limiter(TIERS, usage, () => clock.now);
  return { limiter, key, clock, usage, store, other: store.create({ name: 'other', tier }).record };
}

test('a full bucket admits one second of requests at once and not one more', (t) => {
  const { limiter, key, other } = setUp(t, 'free');
  const admissions = Array.from({ length: 6 }, () => limiter.take(key, 1));
  assert.deepEqual(
    admissions.map(({ ok, remaining }) => [ok, remaining]),
    [
      [true, 4],
      [true, 3],
      [true, 2],
      [true, 1],
      [true, 0],
      [false, 0],
    ],
  );
  const refused = admissions[5]!;
  assert.ok(!refused.ok);
  assert.equal(refused.code, 'rate_limited');
  assert.equal(refused.retryAfter, 1);
  assert.deepEqual([refused.limit, refused.reset], [5, 1]);
  assert.ok(limiter.take(other, 5).ok, 'another key has a bucket of its own');
});

test('the bucket refills to the millisecond', (t) => {
  const { limiter, key, clock } = setUp(t, 'free');
  assert.ok(limiter.take(key, 5).ok);
  clock.now += 199;
  assert.ok(!limiter.take(key, 1).ok);
  clock.now += 1;
  assert.ok(limiter.take(key, 1).ok);
  assert.ok(!limiter.take(key, 1).ok);
  clock.now += 60_000;
  assert.ok(limiter.take(key, 5).ok);
  assert.ok(!limiter.take(key, 1).ok, 'a long pause fills no more than one second');
});

test('ten minutes of uneven demand are admitted at exactly the rate', (t) => {
  const { limiter, key, clock } = setUp(t, 'free');
  let admitted = 0;
  let step = 1;
  const end = clock.now + 600_000;
  while (clock.now < end) {
    while (limiter.take(key, 1).ok) admitted++;
    step = (step * 31) % 191; // 1 to 190 ms, so that the bucket never overflows
    clock.now = Math.min(end, clock.now + step);
  }
  while (limiter.take(key, 1).ok) admitted++;
  assert.equal(admitted, 5 + 600 * 5);
});

test('a clock that goes back neither adds nor removes tokens', (t) => {
  const { limiter, key, clock } = setUp(t, 'free');
  assert.ok(limiter.take(key, 5).ok);
  clock.now -= 10_000;
  assert.ok(!limiter.take(key, 1).ok);
  clock.now += 200;
  assert.ok(limiter.take(key, 1).ok);
});

test('a batch is admitted as a whole or not at all', (t) => {
  const { limiter, key } = setUp(t, 'free');
  assert.ok(limiter.take(key, 3).ok);
  assert.ok(!limiter.take(key, 3).ok);
  assert.equal(limiter.take(key, 2).remaining, 0, 'the refused batch cost nothing');
});

test('a batch larger than the bucket is admitted when it is full and leaves a debt', (t) => {
  const { limiter, key, clock, usage } = setUp(t, 'free');
  assert.ok(limiter.take(key, 1).ok);
  const early = limiter.take(key, 1_000);
  assert.ok(!early.ok);
  assert.deepEqual([early.retryAfter, early.waitMs], [1, 200]);
  clock.now += early.waitMs;
  const admitted = limiter.take(key, 1_000);
  assert.deepEqual(admitted, { ok: true, limit: 5, remaining: 0, reset: 200 });
  assert.equal(usage.used(key.id, clock.now), 1_001);
  clock.now += 1_000;
  const next = limiter.take(key, 1);
  assert.ok(!next.ok);
  assert.deepEqual([next.retryAfter, next.remaining], [199, 0]);
  clock.now += next.waitMs - 1;
  assert.ok(!limiter.take(key, 1).ok);
  clock.now += 1;
  assert.ok(limiter.take(key, 1).ok, 'the named time is exact');
});

test('the same request is admitted after retryAfter', (t) => {
  for (const tier of ['free', 'both']) {
    for (const size of [1, 3, 5, 6, 7, 60, 1_000]) {
      const { limiter, key, clock } = setUp(t, tier);
      while (limiter.take(key, 1).ok);
      const refused = limiter.take(key, size);
      assert.ok(!refused.ok);
      clock.now += refused.retryAfter * 1_000;
      const mayEver = tier === 'free' || size <= 7;
      assert.equal(limiter.take(key, size).ok, mayEver, `${size} on ${tier}`);
    }
  }
});

test('requests within a second of a large batch share its allowance', (t) => {
  const { limiter, key, clock } = setUp(t, 'free');
  for (let i = 0; i < 9; i++) assert.ok(limiter.take(key, 100).ok, `batch ${i}`);
  assert.ok(!limiter.take(key, 125).ok);
  assert.ok(limiter.take(key, 1).ok);
  clock.now += 999;
  assert.ok(limiter.take(key, 50).ok);
  clock.now += 1;
  assert.ok(!limiter.take(key, 50).ok, 'the second is over');
  clock.now += 190_000;
  assert.ok(limiter.take(key, 600).ok, 'paid off');
  clock.now -= 60_000;
  assert.ok(!limiter.take(key, 100).ok, 'a clock that goes back does not prolong it');
});

test('large batches do not raise the rate over time', (t) => {
  const { limiter, key, clock } = setUp(t, 'free');
  const end = clock.now + 3_600_000;
  let admitted = 0;
  for (let i = 0; clock.now < end; i++) {
    const size = [1, 700, 100, 4, 1_000, 30][i % 6]!;
    if (limiter.take(key, size).ok) admitted += size;
    clock.now += 37;
  }
  assert.ok(admitted <= 5 * 3_600 + 1_024 && admitted > 5 * 3_600 - 1_024, String(admitted));
});

test('the monthly quota is exact and resets with the month', (t) => {
  const { limiter, key, clock } = setUp(t, 'small');
  assert.deepEqual(limiter.take(key, 8), {
    ok: true,
    limit: 10,
    remaining: 2,
    reset: (DECEMBER - NOVEMBER_21) / 1000,
  });
  const refused = limiter.take(key, 3);
  assert.ok(!refused.ok);
  assert.equal(refused.code, 'quota_exceeded');
  assert.equal(refused.retryAfter, (DECEMBER - NOVEMBER_21) / 1000);
  assert.equal(refused.remaining, 2);
  assert.match(refused.message, /^a batch of 3 .* at most 2 at once$/);
  assert.ok(limiter.take(key, 2).ok);
  const usedUp = limiter.take(key, 1);
  assert.ok(!usedUp.ok);
  assert.match(usedUp.message, /^the monthly quota of 10 requests is used up/);
  clock.now = DECEMBER - 1;
  assert.ok(!limiter.take(key, 1).ok);
  clock.now = DECEMBER;
  assert.equal(limiter.take(key, 1).remaining, 9);
});

test('the headers show the tighter of rate and quota', (t) => {
  const { limiter, key, clock } = setUp(t, 'both');
  assert.deepEqual([limiter.take(key, 1).limit, limiter.take(key, 1).remaining], [5, 3]);
  clock.now += 10_000;
  const third = limiter.take(key, 3);
  assert.deepEqual([third.limit, third.remaining], [5, 2]);
  clock.now += 10_000;
  const quota = limiter.take(key, 1);
  assert.deepEqual([quota.limit, quota.remaining], [7, 1]);
});

test('without limits every request is admitted and still counted', (t) => {
  const { limiter, key, usage, clock } = setUp(t, 'unlimited');
  for (let i = 0; i < 1_000; i++) assert.ok(limiter.take(key, 100).ok);
  assert.equal(usage.used(key.id, clock.now), 100_000);
  clock.now = DECEMBER;
  limiter.take(key, 1);
  assert.equal(usage.used(key.id, clock.now), 1);
});

test('refused requests are not counted', (t) => {
  const { limiter, key, usage, clock } = setUp(t, 'free');
  for (let i = 0; i < 20; i++) limiter.take(key, 1);
  assert.equal(usage.used(key.id, clock.now), 5);
});

test('refusal() gives the reason without counting a request', (t) => {
  const { limiter, key, clock, usage } = setUp(t, 'both');
  assert.equal(limiter.refusal(key), null);
  limiter.take(key, 5);
  const { code, remaining, retryAfter } = limiter.refusal(key) ?? assert.fail();
  assert.deepEqual([code, remaining, retryAfter], ['rate_limited', 0, 1]);
  clock.now += 200;
  assert.equal(limiter.refusal(key), null);
  clock.now += 10_000;
  limiter.take(key, 2);
  assert.deepEqual(limiter.refusal(key), limiter.take(key, 1));
  assert.equal(limiter.refusal(key)?.code, 'quota_exceeded');
  assert.equal(usage.used(key.id, clock.now), 7);
  const free = setUp(t, 'unlimited');
  free.limiter.take(free.key, 1e6);
  assert.equal(free.limiter.refusal(free.key), null);
});

test('counts are stored by month and read at the next start', (t) => {
  const { limiter, key, usage, store, clock } = setUp(t, 'unlimited');
  limiter.take(key, 12);
  usage.flush();
  limiter.take(key, 3);
  clock.now = DECEMBER;
  limiter.take(key, 4);
  usage.flush();
  assert.deepEqual(readUsage(store.db, key.id), [
    { key: key.id, month: 202612, requests: 4 },
    { key: key.id, month: 202611, requests: 15 },
  ]);
  const next = new UsageCounter(store.db, NOVEMBER_21);
  t.after(() => next.close());
  assert.equal(next.used(key.id, NOVEMBER_21), 15);
});

test('a tier that was removed from the configuration counts as free', () => {
  assert.equal(tierOf(TIERS, 'gone'), TIERS['free']);
  assert.equal(tierOf(TIERS, 'toString'), TIERS['free']);
});

test('refused requests are given times to return at, spread at the rate, at which each is admitted', (t) => {
  const { limiter, key, clock } = setUp(t, 'free');
  assert.ok(limiter.admit(key, 5).ok);
  let waiting = Array.from({ length: 40 }, () => limiter.admit(key, 1));
  const given = waiting.map((refused) => (refused.ok ? 0 : refused.retryAfter));
  assert.deepEqual(
    given,
    given.map((_, i) => Math.ceil((i + 1) / 5)),
  );
  for (let second = 1; waiting.length > 0; second++) {
    clock.now += 1_000;
    const due = given.filter((seconds) => seconds === second);
    for (const _ of due) assert.ok(limiter.admit(key, 1).ok, `second ${second}`);
    waiting = waiting.slice(due.length);
  }
});

test('the times to return at are bounded, and forgotten when nobody comes', (t) => {
  const { limiter, key, clock } = setUp(t, 'free');
  const last = () => {
    const refused = limiter.admit(key, 1);
    assert.ok(!refused.ok);
    return refused.retryAfter;
  };
  assert.ok(limiter.admit(key, 5).ok);
  for (let i = 0; i < 2_000; i++) last();
  assert.equal(last(), 200);
  clock.now += 3_000;
  assert.ok(limiter.admit(key, 5).ok);
  assert.equal(last(), 1);
});

test('a refusal for the quota names the end of the month to everyone', (t) => {
  const { limiter, key } = setUp(t, 'small');
  assert.ok(limiter.admit(key, 10).ok);
  for (let i = 0; i < 3; i++) {
    const refused = limiter.admit(key, 1);
    assert.deepEqual(
      [refused.ok, !refused.ok && refused.retryAfter],
      [false, (DECEMBER - NOVEMBER_21) / 1000],
    );
  }
});

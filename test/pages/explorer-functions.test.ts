/** The parts of the pages that need no page: texts, scales, layouts and sums. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { z } from 'zod';
import { openAccess } from '../../src/access/access.ts';
import type { Tiers } from '../../src/access/tiers.ts';
import { address, txHash } from '../support/index-fixture.ts';
import { tempDir } from '../support/temp-dir.ts';
import { waitFor } from '../support/wait.ts';

const FUNCTION = z.custom<(...parameters: unknown[]) => unknown>((value) => typeof value === 'function');

/** A function of a script of the pages; scripts are JavaScript, whose types tsc does not read here. */
async function from(script: string, name: string): Promise<z.infer<typeof FUNCTION>> {
  const module: unknown = await import(new URL(`../../src/pages/${script}.js`, import.meta.url).href);
  return FUNCTION.parse(z.record(z.string(), z.unknown()).parse(module)[name]);
}

/** Checks calls of one function: what goes in, and what comes out. */
async function check(script: string, name: string, cases: [parameters: unknown[], result: unknown][]) {
  const call = await from(script, name);
  for (const [parameters, result] of cases) {
    assert.deepEqual(call(...parameters), result, `${name}(${parameters.map(String).join(', ')})`);
  }
}

test('amounts are exact, grouped, and never rounded to zero', async () => {
  await check('ui/format', 'unitsToText', [
    [[1_500_000n, 6], '1.5'],
    [[0n, 18], '0'],
    [[1n, 18], '0.000000000000000001'],
    [[-25n, 1], '-2.5'],
    [[12_345n, 0], '12345'],
  ]);
  await check('ui/format', 'groupedText', [
    [['1234567.891234567'], '1,234,567.8912'],
    [['0.00001234'], '0.000012'],
    [['-1000.5'], '−1,000.5'],
    [['1000'], '1,000'],
    [['0.12999', 2], '0.12'],
    [[String(2n ** 255n)], '5.7896 × 10⁷⁶'],
    [[String(10n ** 30n)], '1 × 10³⁰'],
    [[`-0.${'0'.repeat(253)}42`], '−4.2 × 10⁻²⁵⁴'],
  ]);
  await check('ui/format', 'compactNumber', [
    [[-1_234_567], '−1.23M'],
    [[0], '0'],
    [[0.00005], '0.00005'],
    [[-(2 ** 255)], '−5.79E76'],
    [[4.2e-254], '4.2E−254'],
  ]);
});

test('token names lose misleading characters', async () => {
  await check('ui/format', 'safeName', [
    [['USDC'], 'USDC'],
    [['US\u202eCDSU'], 'USCDSU'],
    [['a\nb\u0000c\u200b'], 'abc'],
    [['a\u3164\u2800\u115fb\u00a0\u3000c'], 'ab c'],
    [[`Z${'\u0334'.repeat(90)}y`], 'Z\u0334\u0334y'],
    [['x'.repeat(17)], `${'x'.repeat(15)}…`],
    [['😀'.repeat(16)], '😀'.repeat(16)],
    [['long name of a company', 40], 'long name of a company'],
  ]);
});

test('durations and sizes use human units', async () => {
  await check('ui/format', 'duration', [
    [[0.4], '0 s'],
    [[61], '1 min 1 s'],
    [[7_200], '2 h'],
    [[90_000], '1 d 1 h'],
    [[400 * 86_400], '1 y 35 d'],
  ]);
  await check('ui/format', 'byteSize', [
    [[999], '999 B'],
    [[999_950], '1 MB'],
    [[1_500_000_000], '1.5 GB'],
  ]);
});

test('axes have round ends around their values', async () => {
  await check('ui/scale', 'ticksAround', [
    [
      [0, 47, 3],
      [0, 20, 40, 60],
    ],
    [
      [-130, 0, 4],
      [-150, -100, -50, 0],
    ],
    [
      [0, 1, 1],
      [0, 1],
    ],
  ]);
  const at = Date.UTC(2026, 10, 21, 10);
  const timeTicks = await from('ui/scale', 'timeTicks');
  assert.deepEqual(timeTicks(at, at + 3 * 3_600_000, 3), [
    { at, text: '10:00' },
    { at: at + 3_600_000, text: '11:00' },
    { at: at + 2 * 3_600_000, text: '12:00' },
    { at: at + 3 * 3_600_000, text: '13:00' },
  ]);
});

test('routes are parsed strictly', async () => {
  const parse = await from('explorer/route', 'parseRoute');
  const route = (hash: string) => {
    const {
      view,
      subject: where,
      section,
    } = z.object({ view: z.string(), subject: z.string(), section: z.string() }).parse(parse(hash));
    return [view, where, section];
  };
  const alice = address('alice');
  assert.deepEqual(route(''), ['home', '', '']);
  assert.deepEqual(route(`#/wallet/${alice}/transfers?direction=in`), ['wallet', alice, 'transfers']);
  assert.deepEqual(route(`#/token/${alice.toUpperCase().replace('0X', '0x')}`), ['token', alice, '']);
  assert.deepEqual(route(`#/wallet/${alice}0`), ['unknown', '', '']);
  assert.deepEqual(route('#/wallet/javascript:alert(1)'), ['unknown', '', '']);
  assert.deepEqual(route('#/find/%E0%A4%A'), ['find', '%e0%a4%a', '']);
  assert.deepEqual(route(`#/transaction/${txHash('t')}`), ['transaction', txHash('t'), '']);
  assert.deepEqual(route('#/transaction/12'), ['unknown', '', '']);
  assert.deepEqual(route('#/block/12'), ['block', '12', '']);
  assert.deepEqual(route(`#/block/${alice}`), ['unknown', '', '']);
});

test('search extracts the only address or hash from its text', async () => {
  const parse = await from('explorer/route', 'parseRoute');
  const found = (text: string) =>
    z.object({ subject: z.string() }).parse(parse(`#/find/${encodeURIComponent(text)}`)).subject;
  const [alice, bob] = [address('alice'), address('bob')];
  for (const text of [
    alice,
    ` ${alice.toUpperCase()} `,
    alice.slice(2),
    `ethereum:${alice}@143`,
    `https://explorer.example/address/${alice}?tab=${alice}`,
  ])
    assert.equal(found(text), alice);
  const hash = `0x${'ab'.repeat(32)}`;
  assert.equal(found(`https://explorer.example/tx/${hash}`), hash);
  assert.equal(found(hash.slice(2)), hash);
  assert.equal(found(' 1,234,567 '), '1234567');
  for (const text of [`${alice} ${bob}`, hash, `${alice}0`, 'bob.example']) assert.equal(found(text), text);
});

test('a funding chain wraps at the edge and keeps each wallet next to its funder', async () => {
  const layout = await from('explorer/chain-layout', 'chainLayout');
  const place = z.object({ x: z.number(), y: z.number() });
  const line = z.object({
    x1: z.number(),
    y1: z.number(),
    x2: z.number(),
    y2: z.number(),
    upright: z.boolean(),
  });
  const shape = z.object({ places: z.array(place), lines: z.array(line), width: z.number() });
  for (const width of [200, 390, 700, 1080]) {
    for (const count of [2, 3, 6, 11]) {
      const { places, lines, width: used } = shape.parse(layout(count, width));
      assert.equal(places.length, count);
      assert.ok(used <= Math.max(width, 172), `${used} of ${width}`);
      assert.equal(new Set(places.map(({ x, y }) => `${x} ${y}`)).size, count, 'two at one place');
      for (const { x1, x2, y1, y2, upright } of lines) assert.ok(upright ? x1 === x2 && y1 < y2 : y1 === y2);
    }
  }
});

test('the wallets of a funder do not overlap and fit the width', async () => {
  const layout = await from('explorer/cohort-layout', 'cohortLayout');
  const dot = z.object({ x: z.number(), y: z.number(), radius: z.number() });
  const shape = z.object({ dots: z.array(dot), height: z.number() });
  for (const width of [358, 1080]) {
    for (const count of [1, 2, 16, 17, 51]) {
      const { dots, height } = shape.parse(
        layout(
          Array.from({ length: count }, (_, i) => i),
          width,
        ),
      );
      assert.equal(dots.length, count);
      for (const [i, a] of dots.entries()) {
        assert.ok(
          a.x - a.radius >= 0 && a.x + a.radius <= width && a.y - a.radius >= 0 && a.y + a.radius <= height,
        );
        for (const b of dots.slice(i + 1)) {
          assert.ok(Math.hypot(a.x - b.x, a.y - b.y) > 10, `${count} wallets on ${width} pixels touch`);
        }
      }
    }
  }
});

test('the balance is computed back from the present, even with missing history', async () => {
  const points = await from('explorer/flows', 'flowPoints');
  const shape = z.array(z.object({ balance: z.bigint(), change: z.bigint() }));
  const [alice, bob] = [address('alice'), address('bob')];
  const transfer = (
    n: number,
    sender: string,
    receiver: string,
    amount: string,
    token: string | null = null,
  ) => ({
    blockNumber: n,
    txHash: txHash(`t${n}`),
    from: sender,
    to: receiver,
    amount,
    tokenAddress: token,
    timestamp: new Date(n * 1000).toISOString(),
  });
  const newestFirst = [
    transfer(4, bob, alice, '7'),
    transfer(3, alice, alice, '50'),
    transfer(2, alice, bob, '3'),
    transfer(2, alice, bob, '2'),
    transfer(1, bob, alice, '999', address('token')),
  ];
  assert.deepEqual(
    shape.parse(points(newestFirst, 'native', alice, 100n)),
    [
      { balance: 93n, change: -5n },
      { balance: 93n, change: 0n },
      { balance: 100n, change: 7n },
    ],
    'one point a transaction; what goes to itself changes nothing',
  );
});

test('logs of every token standard are decoded, others skipped', async () => {
  const read = await from('explorer/token-logs', 'decodeTransferLog');
  const word = (value: string | number) => String(value).replace('0x', '').padStart(64, '0');
  const topic = (value: string) => `0x${word(value)}`;
  const [alice, bob] = [address('alice'), address('bob')];
  const decoded = (topics: string[], data: string) =>
    z
      .object({
        from: z.string(),
        to: z.string(),
        amount: z.string().nullable(),
        tokenId: z.string().nullable(),
      })
      .nullable()
      .parse(read({ topics, data, blockNumber: '0x1', transactionHash: txHash('t') }));
  const transfer = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
  const single = '0xc3d58168c5ae7397731d063d5bbf3d657854427343f4c083240f7aacaa2d0f62';
  const ends = { from: alice, to: bob };
  assert.deepEqual(decoded([transfer, topic(alice), topic(bob)], `0x${word('2a')}`), {
    ...ends,
    amount: '42',
    tokenId: null,
  });
  assert.deepEqual(decoded([transfer, topic(alice), topic(bob), topic('7')], '0x'), {
    ...ends,
    amount: '1',
    tokenId: '7',
  });
  assert.deepEqual(decoded([single, topic(bob), topic(alice), topic(bob)], `0x${word('5')}${word('3')}`), {
    ...ends,
    amount: '3',
    tokenId: '5',
  });
  for (const data of ['0x', `0x${word('1')}00`])
    assert.equal(decoded([transfer, topic(alice), topic(bob)], data), null);
  assert.equal(decoded([transfer], '0x'), null);
});

test('a request becomes a curl line with escaped quotes', async () => {
  await check('explorer/curl', 'curlLine', [
    [
      [{ method: 'GET', url: "http://h/a?b='c'", body: null }, 'k'],
      `curl -s -H 'X-API-Key: k' 'http://h/a?b='\\''c'\\'''`,
    ],
    [
      [{ method: 'POST', url: 'http://h/rpc', body: '{"a":1}' }, 'k'],
      `curl -s -H 'X-API-Key: k' -H 'Content-Type: application/json' -d '{"a":1}' 'http://h/rpc'`,
    ],
  ]);
});

test('an exhausted quota differs from an exceeded rate, also on /rpc', async () => {
  const apiErrorOf = await from('ui/api-error', 'apiErrorOf');
  const codeOf = (retryAfter: number) =>
    z
      .object({ code: z.string() })
      .parse(apiErrorOf(429, { error: { code: -32005, message: 'over a limit', data: { retryAfter } } }))
      .code;
  assert.equal(codeOf(1), 'rate_limited');
  assert.equal(codeOf(700_000), 'quota_exceeded');
});

test('a proxy’s error is not mistaken for one of the server or its node', async () => {
  const apiErrorOf = await from('ui/api-error', 'apiErrorOf');
  const codeOf = (status: number, body: unknown) =>
    z.object({ code: z.string() }).parse(apiErrorOf(status, body)).code;
  for (const status of [502, 503, 504]) assert.equal(codeOf(status, null), 'unreachable');
  assert.equal(codeOf(502, { error: { code: -32603, message: 'upstream unavailable' } }), 'upstream');
  assert.equal(codeOf(503, { error: { code: 'not_ready', message: 'no block yet' } }), 'not_ready');
});

interface RequestThrottle {
  run(request: () => Promise<void>): Promise<void>;
  updateLimits(rate: number, remaining: number): void;
  pause(seconds: number): void;
}

async function newThrottle(onPause: (seconds: number) => void): Promise<RequestThrottle> {
  const module: unknown = await import(
    new URL('../../src/pages/explorer/request-throttle.js', import.meta.url).href
  );
  const { RequestThrottle } = z
    .object({ RequestThrottle: z.custom<new (onPause: (seconds: number) => void) => RequestThrottle>() })
    .parse(module);
  return new RequestThrottle(onPause);
}

test('the rate of a key comes from its rate headers, not from its monthly quota', async (t) => {
  const rateLimitOf = await from('explorer/api', 'rateLimitOf');
  const tiers: Tiers = {
    rated: { requests_per_month: 0, requests_per_second: 5, chain_depth: 5 },
    both: { requests_per_month: 3, requests_per_second: 5, chain_depth: 5 },
    quota: { requests_per_month: 100, requests_per_second: 0, chain_depth: 5 },
  };
  const access = openAccess(join(tempDir(t), 'keys.db'), tiers);
  t.after(() => access.close());
  const rateOf = (tier: string) => {
    const { limit, remaining, reset } = access.limiter.take(
      access.keys.create({ name: tier, tier }).record,
      1,
    );
    return rateLimitOf(
      new Headers({
        'RateLimit-Limit': String(limit),
        'RateLimit-Remaining': String(remaining),
        'RateLimit-Reset': String(reset),
      }),
    );
  };
  assert.deepEqual(rateOf('rated'), { rate: 5, remaining: 4 });
  assert.equal(rateOf('both'), null, 'the quota leaves less than the rate');
  assert.equal(rateOf('quota'), null);
  assert.equal(rateLimitOf(new Headers()), null, 'a proxy may take the headers away');
});

test('requests wait in line and until a pause ends', async () => {
  const pauses: number[] = [];
  const throttle = await newThrottle((seconds) => pauses.push(seconds));
  let inFlight = 0;
  let most = 0;
  const ends: (() => void)[] = [];
  const runs = Array.from({ length: 7 }, () =>
    throttle.run(async () => {
      most = Math.max(most, ++inFlight);
      await new Promise<void>((resolve) => ends.push(resolve));
      inFlight--;
    }),
  );
  for (let done = 0; done < 4; done++) (await waitFor(() => ends.shift(), { what: 'a request' }))();
  const startedAt = performance.now();
  throttle.pause(0.1);
  for (let done = 4; done < 7; done++) (await waitFor(() => ends.shift(), { what: 'a request' }))();
  await Promise.all(runs);
  assert.equal(most, 3);
  assert.deepEqual(pauses, [0.1, 0]);
  assert.ok(performance.now() - startedAt >= 95);
});

test('requests go out no faster than the rate headers allow', async () => {
  const throttle = await newThrottle(() => undefined);
  const RATE = 50;
  let left = 2; // as the server counts
  let refused = 0;
  let at = performance.now();
  const ask = () =>
    throttle.run(async () => {
      const now = performance.now();
      left = Math.min(RATE, left + ((now - at) / 1000) * RATE);
      at = now;
      if (left < 1) refused++;
      else left--;
      await setTimeout(5);
      throttle.updateLimits(RATE, Math.floor(left));
    });
  await ask();
  await Promise.all(Array.from({ length: 20 }, ask));
  assert.equal(refused, 0);
});

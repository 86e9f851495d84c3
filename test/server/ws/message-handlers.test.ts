/** How the answers of one message are combined. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KeyRecord } from '../../../src/access/key.ts';
import type { AdmissionResult } from '../../../src/access/limiter.ts';
import type { Waiter, WaitingLine } from '../../../src/access/waiting-line.ts';
import { createLogger } from '../../../src/log/logger.ts';
import { createMetrics } from '../../../src/metrics/metrics.ts';
import { ethMessageHandler } from '../../../src/server/ws/message-handlers.ts';
import { NotificationCounts, Session } from '../../../src/streams/subscription.ts';
import { FREE } from '../../streams/free-payer.ts';

const KEY: KeyRecord = {
  id: 1,
  hint: '',
  name: '',
  tier: '',
  createdAt: 0,
  rotatedAt: null,
  revokedAt: null,
  expiresAt: null,
  allow: [],
};

const ADMITTED: AdmissionResult = { ok: true, limit: 0, remaining: 0, reset: 0 };

/** An unsubscribe and another call. */
const MIXED = [
  { jsonrpc: '2.0', id: 1, method: 'eth_unsubscribe', params: ['0x1'] },
  { jsonrpc: '2.0', id: 2, method: 'eth_chainId' },
];

/** What a client receives for a message whose forwarded calls are answered with `body`. */
async function answerOf(
  body: string | null,
  message = JSON.stringify(MIXED),
  enter: WaitingLine['enter'] = () => ADMITTED,
  signal = new AbortController().signal,
): Promise<unknown> {
  const log = createLogger({ level: 'error', format: 'json', write: () => undefined });
  const metrics = createMetrics();
  const sessionConnection = { backlogBytes: 0, push() {}, whenDrained() {}, close() {}, payer: FREE };
  const session = new Session({
    handlers: new Map(),
    connection: sessionConnection,
    maxSubscriptions: 1,
    maxHeldBytes: 1,
    metrics,
    counts: new NotificationCounts(metrics),
  });
  const sent: string[] = [];
  const handleMessage = ethMessageHandler({
    rpc: {
      answer: async (_, { charge }) => {
        const charged = charge(1);
        if (charged === 'waits') return charged;
        return { status: 200, body: charged === null ? body : JSON.stringify(charged) };
      },
    },
    line: { enter },
    log,
  });
  const connection = {
    answer: (text: string | Buffer) => void sent.push(String(text)),
    countTowardsFlood() {},
    signal,
    endpoint: '/ws' as const,
  };
  await handleMessage({ connection, session, key: KEY, body: Buffer.from(message), arrivedAt: 0 });
  metrics.close();
  return JSON.parse(sent.join());
}

test('own and forwarded answers form one batch, also if forwarded calls are refused or notifications', async () => {
  const own = { jsonrpc: '2.0', id: 1, error: { code: -32000, message: 'subscription not found' } };
  const given = { jsonrpc: '2.0', id: 2, result: '0x1' };
  const refused = { jsonrpc: '2.0', id: null, error: { code: -32005, message: 'too many' } };
  assert.deepEqual(await answerOf(JSON.stringify([given])), [own, given]);
  assert.deepEqual(await answerOf(JSON.stringify(refused)), [own, refused]);
  assert.deepEqual(await answerOf(null), [own]);
});

test('answers keep the order of the calls', async () => {
  const unsubscribe = (id: number) => ({ jsonrpc: '2.0', id, method: 'eth_unsubscribe', params: ['0x1'] });
  const call = (id?: number) => ({ jsonrpc: '2.0', id, method: 'eth_chainId' });
  const batch = [call(1), unsubscribe(2), call(), 5, call(4), unsubscribe(5), call(6)];
  const given = (id: number | null) => ({ jsonrpc: '2.0', id, result: `["],[", ${id}]` });
  const ofNode = [given(1), given(null), given(4), given(6)];
  const answers = await answerOf(JSON.stringify(ofNode), JSON.stringify(batch));
  assert.deepEqual(
    (answers as { id: number | null }[]).map(({ id }) => id),
    [1, 2, null, 4, 5, 6],
  );
});

test('each call of a batch over the limits gets an error, including subscription calls', async () => {
  const refusal: AdmissionResult = {
    ok: false,
    limit: 5,
    remaining: 0,
    reset: 1,
    code: 'rate_limited',
    message: 'too many',
    retryAfter: 1,
    waitMs: 200,
  };
  const error = { code: -32005, message: 'too many', data: { retryAfter: 1 } };
  assert.deepEqual(await answerOf('"of the node"', undefined, () => refusal), [
    { jsonrpc: '2.0', id: 1, error },
    { jsonrpc: '2.0', id: 2, error },
  ]);
});

test('a message that has to wait is answered after its turn, whether here or by the gateway', async () => {
  for (const message of [MIXED[0], MIXED, MIXED[1]]) {
    const waiters: Waiter[] = [];
    const enter = (waiter: Waiter) => {
      waiters.push(waiter);
      return () => assert.fail('nobody leaves');
    };
    const answered = answerOf('{"of":"the gateway"}', JSON.stringify(message), enter);
    await new Promise(setImmediate);
    assert.deepEqual(
      waiters.map(({ record, calls, bytes, arrivedAt }) => [record, calls, bytes, arrivedAt]),
      [[KEY, Array.isArray(message) ? 2 : 1, JSON.stringify(message).length, 0]],
    );
    waiters[0]?.onDecided(ADMITTED);
    assert.ok(await answered);
    assert.equal(waiters.length, 1, 'charged once');
  }
});

test('a message leaves the line when its connection ends, and is not answered when its key is invalid', async () => {
  for (const message of [MIXED[0], MIXED[1]]) {
    const connection = new AbortController();
    let left = 0;
    const ends = answerOf('1', JSON.stringify(message), () => () => left++, connection.signal);
    await new Promise(setImmediate);
    connection.abort(new Error('closed'));
    await assert.rejects(ends, /closed/);
    assert.equal(left, 1);

    const waiters: Waiter[] = [];
    const expelled = answerOf('"of the node"', JSON.stringify(message), (waiter) => {
      waiters.push(waiter);
      return () => undefined;
    });
    await new Promise(setImmediate);
    waiters[0]?.onDecided(null);
    assert.match(JSON.stringify(await expelled), /no longer valid/);
  }
});

test('a method name may contain JSON escapes', async () => {
  const message = JSON.stringify(MIXED[0]).replace('unsubscribe', 'un\\u0073ubscribe');
  const notFound = { jsonrpc: '2.0', id: 1, error: { code: -32000, message: 'subscription not found' } };
  assert.deepEqual(await answerOf('"of the node"', message), notFound);
});

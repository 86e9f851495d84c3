/** How the answers of one message come together. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KeyRecord } from '../../src/access/keys.ts';
import type { AdmissionResult } from '../../src/access/limiter.ts';
import { createLogger } from '../../src/log.ts';
import { createMetrics } from '../../src/metrics.ts';
import { ethMessageHandler } from '../../src/server/ws-message-handlers.ts';
import { NotificationCounts } from '../../src/stream/notification-counts.ts';
import { Session } from '../../src/stream/session.ts';

const KEY: KeyRecord = {
  id: 1,
  hint: '',
  name: '',
  tier: '',
  createdAt: 0,
  rotatedAt: null,
  revokedAt: null,
};

/** An unsubscribe and another call. */
const MIXED = [
  { jsonrpc: '2.0', id: 1, method: 'eth_unsubscribe', params: ['0x1'] },
  { jsonrpc: '2.0', id: 2, method: 'eth_chainId' },
];

/** What a client reads that sends a message of which the calls that are not answered here are answered with `body`. */
async function answerOf(
  body: string | null,
  message = JSON.stringify(MIXED),
  admission: AdmissionResult = { ok: true, limit: 0, remaining: 0, reset: 0 },
): Promise<unknown> {
  const log = createLogger({ level: 'error', format: 'json', write: () => undefined });
  const metrics = createMetrics();
  const sessionConnection = { backlogBytes: 0, push() {}, whenDrained() {}, close() {} };
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
    rpc: { answer: async () => ({ status: 200, body }) },
    limiter: { take: () => admission },
    log,
  });
  const connection = {
    answer: (text: string | Buffer) => void sent.push(String(text)),
    countTowardsFlood() {},
    signal: new AbortController().signal,
    endpoint: '/ws' as const,
  };
  await handleMessage({ connection, session, key: KEY, body: Buffer.from(message) });
  metrics.close();
  return JSON.parse(sent.join());
}

test('own answers and those of the node are one batch, whether the others were answered, refused together or silent', async () => {
  const own = { jsonrpc: '2.0', id: 1, error: { code: -32000, message: 'subscription not found' } };
  const given = { jsonrpc: '2.0', id: 2, result: '0x1' };
  const refused = { jsonrpc: '2.0', id: null, error: { code: -32005, message: 'too many' } };
  assert.deepEqual(await answerOf(JSON.stringify([given])), [own, given]);
  assert.deepEqual(await answerOf(JSON.stringify(refused)), [own, refused]);
  assert.deepEqual(await answerOf(null), [own]);
});

test('each call of a batch over the limits gets its error, also where the server itself would answer some', async () => {
  const refusal: AdmissionResult = {
    ok: false,
    limit: 5,
    remaining: 0,
    reset: 1,
    code: 'rate_limited',
    message: 'too many',
    retryAfter: 1,
  };
  const error = { code: -32005, message: 'too many', data: { retryAfter: 1 } };
  assert.deepEqual(await answerOf('"of the node"', undefined, refusal), [
    { jsonrpc: '2.0', id: 1, error },
    { jsonrpc: '2.0', id: 2, error },
  ]);
});

test('the name of a call may be written with escapes', async () => {
  const message = JSON.stringify(MIXED[0]).replace('unsubscribe', 'un\\u0073ubscribe');
  const notFound = { jsonrpc: '2.0', id: 1, error: { code: -32000, message: 'subscription not found' } };
  assert.deepEqual(await answerOf('"of the node"', message), notFound);
});

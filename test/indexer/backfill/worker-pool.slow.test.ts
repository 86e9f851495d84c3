/** The backfill workers: sharing ranges, cancelling them, ending when idle. */
import assert from 'node:assert/strict';
import { getEventListeners, once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { BackfillWorkerPool } from '../../../src/indexer/backfill/worker-pool.ts';
import { CallRecorder } from '../../../src/indexer/node-client.ts';
import { UpstreamError } from '../../../src/lib/errors.ts';
import { PLAIN_RULES } from '../../decode/plain.ts';
import { SILENT } from '../../support/logs.ts';
import { startGeneratedNode } from '../../support/nodes/replay.ts';
import { waitFor } from '../../support/wait.ts';

const RANGES = 40;
const RULES = { ...PLAIN_RULES, traces: null, blockReceipts: true };

test('a range cancelled before a worker starts it causes no call to the node, and other ranges continue', async (t) => {
  // At half a second per answer, two workers with two ranges each would request all of them in five seconds.
  const chain = { blocks: RANGES, txPerBlock: 5, startBlock: 1 };
  const { node, blocks } = await startGeneratedNode(t, chain, { latencyMs: 500 });
  const options = { http: node.url, ws: '', timeoutMs: 60_000, maxSockets: 8, maxBatch: 30 };
  const pool = new BackfillWorkerPool(2, { node: options, rules: RULES }, new CallRecorder(), SILENT, 50);
  t.after(() => pool.close());

  const stopped = new AbortController();
  const ranges = blocks.map(({ number }) => pool.load(number, number, stopped.signal));
  const first = await ranges[0];
  assert.equal(first?.[0]?.number[0], 1);
  stopped.abort();
  const outcomes = await Promise.allSettled(ranges);
  const refused = outcomes.filter((outcome) => outcome.status === 'rejected');
  for (const { reason } of refused) assert.ok(reason instanceof UpstreamError, String(reason));

  const again = await pool.load(RANGES, RANGES, new AbortController().signal);
  assert.equal(again[0]?.number[0], RANGES);
  // The answer takes ten times the idle limit of workers.
  await pool.load(RANGES, RANGES, new AbortController().signal);
  const asked = node.stats().byMethod.eth_getBlockByNumber ?? 0;
  assert.ok(asked < RANGES / 2, `${asked} blocks were asked for`);
  await waitFor(() => pool.threadCount === 0, { what: 'the workers to end' });
});

test('idle workers end, and new ones start when there is work', async (t) => {
  const { node } = await startGeneratedNode(t, { blocks: 4, txPerBlock: 5, startBlock: 1 });
  const options = { http: node.url, ws: '', timeoutMs: 60_000, maxSockets: 8, maxBatch: 30 };
  const calls = new CallRecorder();
  const pool = new BackfillWorkerPool(2, { node: options, rules: RULES }, calls, SILENT, 50);
  t.after(() => pool.close());
  const { signal } = new AbortController();

  assert.equal(pool.threadCount, 0, 'none is started before there is work');
  for (let round = 0; round < 2; round++) {
    await Promise.all([1, 2, 3, 4].map((number) => pool.load(number, number, signal)));
    assert.equal(pool.threadCount, 2);
    assert.equal(calls.drain().filter(({ method }) => method === 'eth_getBlockByNumber').length, 4);
    assert.deepEqual(getEventListeners(signal, 'abort'), [], 'nothing of a range that was loaded is kept');
    await waitFor(() => pool.threadCount === 0, { what: 'the workers to end' });
  }
});

test('one worker loads ranges in turn, two share them, and close ends them while the node is silent', async (t) => {
  const { node } = await startGeneratedNode(t, { blocks: 5, txPerBlock: 5, startBlock: 1 });
  let asked = '';
  const silent = createServer((request) => request.on('data', (data) => (asked += data)));
  silent.listen(0, '127.0.0.1');
  t.after(() => silent.close());
  await once(silent, 'listening');
  const { port } = silent.address() as AddressInfo;
  const options = { ws: '', timeoutMs: 600_000, maxSockets: 8, maxBatch: 30 };
  const { signal } = new AbortController();
  const pool = new BackfillWorkerPool(
    1,
    { node: { ...options, http: node.url }, rules: RULES },
    new CallRecorder(),
    SILENT,
  );
  t.after(() => pool.close());
  for (let number = 1; number <= 5; number++) await pool.load(number, number, signal);

  const waiting = new BackfillWorkerPool(
    2,
    { node: { ...options, http: `http://127.0.0.1:${port}` }, rules: RULES },
    new CallRecorder(),
    SILENT,
  );
  for (let number = 1; number <= 4; number++)
    void waiting.load(number, number, signal).catch(() => undefined);
  const blocks = () => asked.split('eth_getBlockByNumber').length - 1;
  await waitFor(() => blocks() === 4, { what: 'each worker to request two ranges' });
  await waiting.close();
});

test('a range requested while workers end is loaded by a new worker', async (t) => {
  const { node } = await startGeneratedNode(t, { blocks: 4, txPerBlock: 5, startBlock: 1 });
  const options = { http: node.url, ws: '', timeoutMs: 60_000, maxSockets: 8, maxBatch: 30 };
  const pool = new BackfillWorkerPool(1, { node: options, rules: RULES }, new CallRecorder(), SILENT);
  t.after(() => pool.close());
  const { signal } = new AbortController();
  await pool.load(1, 1, signal);
  const ended = pool.close();
  const [batch] = await pool.load(2, 2, signal);
  assert.equal(batch?.number[0], 2);
  await ended;
});

test('a failing worker rejects its pending ranges', async (t) => {
  const { node } = await startGeneratedNode(t, { blocks: 4, txPerBlock: 5, startBlock: 1 });
  const options = { http: node.url, ws: '', timeoutMs: 60_000, maxSockets: 8, maxBatch: 30 };
  const { signal } = new AbortController();
  const noUrl = new BackfillWorkerPool(
    1,
    { node: { ...options, http: 'nowhere' }, rules: RULES },
    new CallRecorder(),
    SILENT,
  );
  t.after(() => noUrl.close());
  for (const range of [noUrl.load(1, 1, signal), noUrl.load(2, 2, signal)])
    await assert.rejects(range, /Invalid URL/);
  assert.deepEqual(getEventListeners(signal, 'abort'), [], 'nothing of a range that failed is kept');
  await assert.rejects(noUrl.load(3, 3, signal), /Invalid URL/, 'also after it ended');

  const broken = Object.assign({ node: options, rules: RULES }, { rules: null });
  const defective = new BackfillWorkerPool(1, broken, new CallRecorder(), SILENT);
  t.after(() => defective.close());
  await assert.rejects(defective.load(1, 4, signal), /a backfill worker failed: .*\n? *at /s);
});

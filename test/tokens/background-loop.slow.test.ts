import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { StorageError, UpstreamError } from '../../src/lib/errors.ts';
import { lineLog } from '../../src/log/line-log.ts';
import { RpcClient } from '../../src/node/client.ts';
import { runBackgroundLoop } from '../../src/tokens/background-loop.ts';
import { runMetadataLoop } from '../../src/tokens/metadata-loop.ts';
import { address, createIndex, headerOf } from '../support/index/index-fixture.ts';
import { logTo, SILENT } from '../support/logs.ts';
import { startMisbehavingNode } from '../support/nodes/misbehaving-node.ts';
import { waitFor } from '../support/wait.ts';

/** Collects log lines. */
function logs() {
  const lines: string[] = [];
  const log = logTo(lines);
  return { lines, log };
}

test('logs a lasting failure and its end, but neither a single failure nor an idle step', async () => {
  const stop = new AbortController();
  const { lines, log } = logs();
  const steps: (Error | boolean)[] = [
    new UpstreamError('timeout', 'once is nothing'),
    true,
    new UpstreamError('http', 'HTTP 503'),
    false,
    new StorageError('the disk is full'),
    false,
    new UpstreamError('http', 'told of already'),
    true,
    true,
  ];
  const step = async (): Promise<boolean> => {
    const outcome = steps.shift() ?? false;
    if (steps.length === 0) stop.abort();
    if (outcome instanceof Error) throw outcome;
    return outcome;
  };
  await runBackgroundLoop(step, { name: 'a test', idleMs: 1, minPauseMs: 1, log }, stop.signal);
  assert.deepEqual(lines, [
    'warn background work fails; retrying {"work":"a test","reason":"the disk is full"}',
    'info background work resumes {"work":"a test"}',
  ]);
});

test('work takes at most half of the time', async () => {
  const stop = new AbortController();
  const steps: { began: number; ended: number }[] = [];
  const step = async (): Promise<boolean> => {
    const began = performance.now();
    await sleep(100);
    steps.push({ began, ended: performance.now() });
    if (steps.length === 3) stop.abort();
    return true;
  };
  await runBackgroundLoop(step, { name: 'a test', idleMs: 1, minPauseMs: 1, log: SILENT }, stop.signal);
  for (const [i, { began }] of steps.entries()) {
    const before = steps[i - 1];
    if (before !== undefined)
      assert.ok(began - before.ended >= 0.9 * (before.ended - before.began), `step ${i}`);
  }
});

test('a stop during a node call ends the loop without a failure', async () => {
  const stop = new AbortController();
  const step = () =>
    new Promise<boolean>((_, reject) => {
      stop.signal.addEventListener('abort', () => reject(stop.signal.reason));
      setImmediate(() => stop.abort());
    });
  const options = {
    name: 'a test',
    idleMs: 1,
    minPauseMs: 1,
    log: lineLog(() => assert.fail('nothing to tell')),
  };
  await runBackgroundLoop(step, options, stop.signal);
});

test('a bug ends the work', async () => {
  const defect = new Error('a defect');
  const step = () => Promise.reject(defect);
  const { signal } = new AbortController();
  const options = { name: 'a test', idleMs: 1, minPauseMs: 1, log: SILENT };
  await assert.rejects(runBackgroundLoop(step, options, signal), defect);
});

test('reports a node that runs no calls, and examines tokens once it does', async (t) => {
  const index = createIndex(t);
  index.append([{ mint: [{ kind: 'erc20', from: 'zero', to: 'alice', token: 'coin' }] }]);
  const coin = Buffer.from('COIN').toString('hex').padEnd(64, '0');
  const text = `0x${'20'.padStart(64, '0')}${'4'.padStart(64, '0')}${coin}`;
  const head = index.writer.head();
  assert.ok(head);
  const node = await startMisbehavingNode({
    answer: (method) => (method === 'eth_call' ? text : headerOf(head)),
  });
  t.after(() => node.close());
  node.misbehave({ errorFor: { eth_call: { code: -32601, message: 'Method not found' } } });
  const client = new RpcClient({ url: node.url, timeoutMs: 20_000, maxSockets: 1, maxBatch: 60 });
  t.after(() => client.close());
  const stop = new AbortController();
  const { lines, log } = logs();
  const reading = runMetadataLoop(index.writer, client, log, stop.signal);

  await waitFor(() => lines.length > 0, { what: 'the failure to be told' });
  assert.match(lines[0] ?? '', /^warn .*"token metadata".*eth_call: Method not found/);
  assert.deepEqual(
    index.writer.unreadTokens(Date.now() / 1000, 10).map((token) => token.address),
    [address('coin')],
    'the token is not given up',
  );
  node.misbehave({});
  await waitFor(() => lines.length > 1, { what: 'the end of the failure to be told' });
  assert.match(lines[1] ?? '', /^info .*resumes/);
  assert.deepEqual(index.writer.unreadTokens(Date.now() / 1000, 10), []);
  stop.abort();
  await reading;
});

/** Messages over the rate of a key, which allows five at once and five per second. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { openKeyStore } from '../../../src/access/keys.ts';
import { type CallError, StreamClient } from '../../streams/client.ts';
import type { Cleanup } from '../../support/cleanup.ts';
import { startTestDaemon } from '../../support/daemon/daemon.ts';
import { startGeneratedNode } from '../../support/nodes/replay.ts';
import { waitFor } from '../../support/wait.ts';

/** A function that connects with a new key of the free tier. */
async function serveFree(t: Cleanup, waitMs: number) {
  const { node } = await startGeneratedNode(t, { blocks: 3, txPerBlock: 1 });
  const { url, dataDir } = await startTestDaemon(t, {
    flags: { '--node-http': node.url, '--node-ws': node.wsUrl },
    env: { ATLAS_RPC__RATE_WAIT_MS: String(waitMs) },
  });
  return async (path = '/ws') => {
    const store = openKeyStore(join(dataDir, 'keys.db'));
    const { key } = store.create({ name: path, tier: 'free' });
    store.close();
    const open = () => StreamClient.open(t, url, key, path).catch(() => null);
    return waitFor(open, { what: 'the daemon to know the new key' });
  };
}

test('a message over the rate waits for its turn instead of an error', async (t) => {
  const connect = await serveFree(t, 8_000);
  const client = await connect();
  const startedAt = performance.now();
  const answers: string[] = [];
  const answered = [
    ...['a', 'b', 'c', 'd', 'e'].map(() => client.call('eth_chainId')),
    client.call('eth_subscribe', 'newHeads').then((id) => answers.push(`subscribed ${typeof id}`)),
    client.call('eth_blockNumber').then(() => answers.push('answered by the node')),
    client.call('eth_unsubscribe', '0x1').catch(({ code }: CallError) => answers.push(`unknown ${code}`)),
  ];
  await Promise.all(answered);
  assert.deepEqual(answers.sort(), ['answered by the node', 'subscribed string', 'unknown -32000']);
  assert.ok(performance.now() - startedAt > 500, 'three waited for tokens');

  const signals = await connect('/ws/signals');
  const ids = await Promise.all(
    Array.from({ length: 7 }, () => signals.callWith<string>('atlas_subscribe', {})),
  );
  assert.equal(new Set(ids).size, 7);
});

test('a message that would wait too long gets the error, with a time to retry', async (t) => {
  const client = await (await serveFree(t, 500))();
  const outcomes = await Promise.allSettled(Array.from({ length: 300 }, () => client.call('eth_chainId')));
  const errors = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
  assert.ok(outcomes.length - errors.length > 5, 'some had their turn');
  assert.ok(errors.length > 0);
  for (const { code, data } of errors) {
    assert.equal(code, -32005);
    assert.ok(data.retryAfter >= 1);
  }
  assert.ok(new Set(errors.map(({ data }) => data.retryAfter)).size > 1, 'the retries are spread');
});

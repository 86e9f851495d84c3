// Own process: its bounds are on the memory of the whole process.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { HeadWatch } from '../../src/indexer/head-watch.ts';
import { startMisbehavingNode } from '../support/nodes/misbehaving-node.ts';
import { waitFor } from '../support/wait.ts';

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

const HEADS = 20_000;
/** Most heap growth allowed, bytes. One abort signal kept per head would be some 3,500,000. */
const MOST_KEPT = 1_000_000;

async function heapUsed(): Promise<number> {
  for (let i = 0; i < 5; i++) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    collectGarbage();
  }
  return process.memoryUsage().heapUsed;
}

test('waiting for heads leaves nothing behind in the signal that outlives them', async (t) => {
  const node = await startMisbehavingNode();
  t.after(() => node.close());
  const watch = new HeadWatch(node.wsUrl, 60_000, { onLost: assert.fail, onChainId: () => undefined });
  t.after(() => watch.close());
  await waitFor(() => node.subscriptions === 1, { what: 'the subscription' });
  const stop = new AbortController();
  const waitForHeads = async (count: number): Promise<void> => {
    for (let i = 0; i < count; i++) {
      const announced = watch.next(stop.signal);
      node.publish('newHeads', {});
      await announced;
    }
  };
  await waitForHeads(HEADS / 2);
  const before = await heapUsed();
  await waitForHeads(HEADS);
  const kept = (await heapUsed()) - before;
  assert.ok(kept < MOST_KEPT, `${kept} bytes`);
  const stopped = watch.next(stop.signal);
  stop.abort();
  await stopped;
});

test('a loss of announcements is reported once however often it retries, and again after a recovery', async (t) => {
  const node = await startMisbehavingNode();
  t.after(() => node.close());
  const { wsUrl } = node;
  await node.close();
  const messages: string[] = [];
  const watch = new HeadWatch(wsUrl, 10, {
    onLost: (message) => messages.push(message),
    onChainId: () => undefined,
  });
  t.after(() => watch.close());
  await new Promise((resolve) => setTimeout(resolve, 700)); // three tries
  assert.equal(messages.length, 1, messages.join('\n'));
  assert.match(messages[0]!, /ECONNREFUSED/);
  await node.listen();
  await waitFor(() => node.subscriptions === 1, { what: 'the subscription' });
  node.drop();
  await waitFor(() => messages.length === 2, { what: 'the new loss' });
});

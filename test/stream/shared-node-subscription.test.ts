import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SharedNodeSubscription } from '../../src/stream/shared-node-subscription.ts';
import { NodeFeed } from '../../src/upstream/feed.ts';
import { startMisbehavingNode } from '../support/misbehaving-node.ts';
import { waitFor } from '../support/wait.ts';

test('the subscription at the node lasts until each who acquired it has released it, however often one does', async (t) => {
  const node = await startMisbehavingNode();
  t.after(() => node.close());
  const feed = new NodeFeed({ url: node.wsUrl });
  t.after(() => feed.close());
  const events: unknown[] = [];
  const onEvent = (event: unknown) => events.push(event);
  const shared = new SharedNodeSubscription({
    feed,
    params: ['monadLogs'],
    onEvent,
    onLost: () => undefined,
  });
  const [first, second] = [await shared.acquire(), await shared.acquire()];
  assert.equal(node.subscriptions, 1);
  first();
  first();
  node.publish('monadLogs', 'a log');
  await waitFor(() => events.length > 0, { what: 'the event for the other' });
  second();
  await waitFor(() => node.subscriptions === 0, { what: 'the node to be unsubscribed' });
});

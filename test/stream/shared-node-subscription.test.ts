import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SharedNodeSubscription } from '../../src/stream/shared-node-subscription.ts';
import { NodeFeed } from '../../src/upstream/feed.ts';
import { freePort } from '../support/free-port.ts';
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

test('a subscription that the node ended is joined by nobody: the next one asks the node anew', async (t) => {
  const node = await startMisbehavingNode();
  t.after(() => node.close());
  const feed = new NodeFeed({ url: node.wsUrl, retryMs: { first: 1, longest: 1 } });
  t.after(() => feed.close());
  const events: unknown[] = [];
  let losses = 0;
  const shared = new SharedNodeSubscription({
    feed,
    params: ['monadLogs'],
    onEvent: (event) => events.push(event),
    onLost: () => losses++,
  });
  const [first, second] = [await shared.acquire(), await shared.acquire()];
  node.misbehave({ errorFor: { eth_subscribe: { code: -32603, message: 'limit reached' } } });
  node.drop();
  await waitFor(() => losses > 0, { what: 'the refusal' });
  // The connections of the former clients are being closed: not all of them have released it.
  first();
  await assert.rejects(shared.acquire(), /limit reached/);
  node.misbehave({});
  const third = await shared.acquire();
  second();
  node.publish('monadLogs', 'a log');
  await waitFor(() => events.length > 0, { what: 'the event' });
  assert.deepEqual([events, losses, node.subscriptions], [['a log'], 1, 1]);
  third();
  await waitFor(() => node.subscriptions === 0, { what: 'the node to be unsubscribed' });
});

test('who waits ten seconds for the answer of the node is refused, and whoever joined meanwhile', async (t) => {
  const feed = new NodeFeed({ url: `ws://127.0.0.1:${await freePort()}` });
  t.after(() => feed.close());
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const onEvent = () => undefined;
  const shared = new SharedNodeSubscription({ feed, params: ['monadLogs'], onEvent, onLost: onEvent });
  const refused = (acquired: Promise<unknown>) =>
    assert.rejects(acquired, /^UpstreamError: eth_subscribe monadLogs: no answer of the node$/);
  const first = refused(shared.acquire());
  t.mock.timers.tick(9_999);
  const second = refused(shared.acquire());
  t.mock.timers.tick(1);
  await Promise.all([first, second]);
  const third = refused(shared.acquire());
  t.mock.timers.tick(10_000);
  await third;
});

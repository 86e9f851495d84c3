import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NodeSubscriptions } from '../../../src/node/connection.ts';
import { SharedNodeSubscription } from '../../../src/streams/node/shared-node-subscription.ts';
import { freePort } from '../../support/free-port.ts';
import { startMisbehavingNode } from '../../support/nodes/misbehaving-node.ts';
import { waitFor } from '../../support/wait.ts';

test('the subscription at the node lasts until every user has released it; a second release is nothing', async (t) => {
  const node = await startMisbehavingNode();
  t.after(() => node.close());
  const subscriptions = new NodeSubscriptions({ url: node.wsUrl });
  t.after(() => subscriptions.close());
  const events: unknown[] = [];
  const onEvent = (event: unknown) => events.push(event);
  const shared = new SharedNodeSubscription({
    subscriptions,
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

test('after the node ends a subscription, the next user subscribes again', async (t) => {
  const node = await startMisbehavingNode();
  t.after(() => node.close());
  const subscriptions = new NodeSubscriptions({ url: node.wsUrl, retryMs: { first: 1, longest: 1 } });
  t.after(() => subscriptions.close());
  const events: unknown[] = [];
  let losses = 0;
  const shared = new SharedNodeSubscription({
    subscriptions,
    params: ['monadLogs'],
    onEvent: (event) => events.push(event),
    onLost: () => losses++,
  });
  const [first, second] = [await shared.acquire(), await shared.acquire()];
  node.misbehave({ errorFor: { eth_subscribe: { code: -32603, message: 'limit reached' } } });
  node.drop();
  await waitFor(() => losses > 0, { what: 'the refusal' });
  // The connections of the former clients are closing, and not all of them have released it.
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

test('a subscribe without an answer fails after ten seconds, with all that joined it', async (t) => {
  const subscriptions = new NodeSubscriptions({ url: `ws://127.0.0.1:${await freePort()}` });
  t.after(() => subscriptions.close());
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const onEvent = () => undefined;
  const shared = new SharedNodeSubscription({
    subscriptions,
    params: ['monadLogs'],
    onEvent,
    onLost: onEvent,
  });
  const refused = (acquired: Promise<unknown>) =>
    assert.rejects(acquired, /^UpstreamError: eth_subscribe monadLogs: the node did not answer$/);
  const first = refused(shared.acquire());
  t.mock.timers.tick(9_999);
  const second = refused(shared.acquire());
  t.mock.timers.tick(1);
  await Promise.all([first, second]);
  const third = refused(shared.acquire());
  t.mock.timers.tick(10_000);
  await third;
});

/** Pending transactions of a node that may refuse to announce them, immediately or later. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Logger } from '../../../src/log/logger.ts';
import { NodeSubscriptions } from '../../../src/node/connection.ts';
import { PendingTransactionStream } from '../../../src/streams/node/pending-transaction-stream.ts';
import { type Notification, Subscription } from '../../../src/streams/subscription.ts';
import { startMisbehavingNode } from '../../support/nodes/misbehaving-node.ts';
import { waitFor } from '../../support/wait.ts';
import { FREE } from '../free-payer.ts';

const KIND = 'newPendingTransactions';

async function open(t: TestContext) {
  const node = await startMisbehavingNode();
  t.after(() => node.close());
  const subscriptions = new NodeSubscriptions({ url: node.wsUrl, retryMs: { first: 1, longest: 1 } });
  t.after(() => subscriptions.close());
  const warnings: string[] = [];
  const log: Logger = { debug() {}, info() {}, warn: (_facts, text) => warnings.push(text), error() {} };
  return { node, warnings, stream: new PendingTransactionStream(subscriptions, log) };
}

/** A subscription, and everything its client received. */
function client() {
  const told: unknown[] = [];
  const connection = {
    payer: FREE,
    backlogBytes: 0,
    push: (notification: Notification, id: Uint8Array) =>
      void told.push(JSON.parse(String(notification.messageFor(id))).params.result),
    whenDrained() {},
    close: (code: number, reason: string) => void told.push([code, reason]),
  };
  const subscription = new Subscription(KIND, connection, { total: 0 }, 1_000);
  subscription.release();
  return { told, subscription };
}

test('clients with equal parameters share a subscription at the node, which ends with the last of them', async (t) => {
  const { node, warnings, stream } = await open(t);
  const [one, two, whole] = [client(), client(), client()];
  const ends = [
    await stream.subscribe(undefined, one.subscription),
    await stream.subscribe(false, two.subscription),
    await stream.subscribe(true, whole.subscription),
  ];
  assert.equal(node.subscriptions, 2);
  // This node does not distinguish the two subscriptions.
  node.publish(KIND, '0x1');
  node.publishText(KIND, `${'['.repeat(20_000)}${']'.repeat(20_000)}`);
  ends[0]?.();
  node.publish(KIND, '0x2');
  await waitFor(() => two.told.length === 2 && whole.told.length === 2, { what: 'both transactions' });
  assert.deepEqual(
    [two.told, whole.told],
    [
      ['0x1', '0x2'],
      ['0x1', '0x2'],
    ],
  );
  assert.ok(
    warnings.length > 0 &&
      warnings.every((text) => text === 'the node sent a malformed transaction notification'),
  );
  for (const end of ends.slice(1)) end();
  await waitFor(() => node.subscriptions === 0, { what: 'the node to be unsubscribed' });
});

test('a stream that the node does not offer and malformed parameters are refused', async (t) => {
  const { node, stream } = await open(t);
  node.misbehave({ errorFor: { eth_subscribe: { code: -32601, message: 'no such subscription' } } });
  const refused = { code: 'invalid_params', message: /not offered by the node/ };
  await assert.rejects(stream.subscribe(true, client().subscription), refused);
  assert.throws(() => stream.subscribe('yes', client().subscription), { code: 'invalid_params' });
});

test('a node at its subscription limit is not one that offers none', async (t) => {
  const { node, stream } = await open(t);
  const full = { code: -32603, message: 'WebSocket subscription limit reached' };
  node.misbehave({ errorFor: { eth_subscribe: full } });
  await assert.rejects(stream.subscribe(true, client().subscription), {
    code: 'upstream',
    message: 'upstream unavailable',
  });
});

test('clients are closed when the node refuses the subscription after a reconnect', async (t) => {
  const { node, stream } = await open(t);
  const { told, subscription } = client();
  await stream.subscribe(null, subscription);
  node.misbehave({ errorFor: { eth_subscribe: { code: -32601, message: 'no such subscription' } } });
  node.drop();
  await waitFor(() => told.length > 0, { what: 'the end' });
  assert.deepEqual(told, [[1013, 'the node ended newPendingTransactions']]);
});

/** Filters of pending transactions, which the gateway fills from one subscription at the node. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { startAnvil } from '../../../src/dev/anvil.ts';
import type { Logger } from '../../../src/log/logger.ts';
import { NodeSubscriptions } from '../../../src/node/connection.ts';
import { PendingTransactionStream } from '../../../src/streams/node/pending-transaction-stream.ts';
import { nestedCleanup } from '../../support/cleanup.ts';
import { startTestDaemon } from '../../support/daemon/daemon.ts';
import { startMisbehavingNode } from '../../support/nodes/misbehaving-node.ts';
import { ask } from '../../support/nodes/replay.ts';
import { waitFor } from '../../support/wait.ts';
import { startGateway } from '../gateway.ts';

const KIND = 'newPendingTransactions';
const NEW = 'eth_newPendingTransactionFilter';
const NOT_FOUND = { code: -32000, message: 'filter not found' };
const SILENT: Logger = { debug() {}, info() {}, warn() {}, error() {} };
const hash = (i: number) => `0x${i.toString(16).padStart(64, '0')}`;

async function setUp(t: TestContext) {
  const cleanup = nestedCleanup(t);
  const node = await startMisbehavingNode();
  cleanup.after(() => node.close());
  const subscriptions = new NodeSubscriptions({ url: node.wsUrl, retryMs: { first: 1, longest: 1 } });
  cleanup.after(() => subscriptions.close());
  const stream = new PendingTransactionStream(subscriptions, SILENT);
  const time = { now: 0 };
  let heard = 0;
  const gateway = startGateway(cleanup, {
    url: node.url,
    clock: () => time.now,
    pending: ({ onTransaction, onLost }) =>
      stream.listen({
        onTransaction(json) {
          heard++;
          onTransaction(json);
        },
        onLost,
      }),
  });
  const poll = (id: unknown) => gateway.call('eth_getFilterChanges', [id]);
  /** Announces transactions and waits for their arrival. */
  const announce = async (from: number, to: number) => {
    const before = heard;
    for (let i = from; i <= to; i++) node.publish(KIND, hash(i));
    await waitFor(() => heard - before === to - from + 1, { what: 'the announcements' });
  };
  return { node, gateway, time, poll, announce };
}

test('a filter gets each later transaction once, in order, over one subscription for all filters', async (t) => {
  const { node, gateway, poll, announce } = await setUp(t);
  const first = await gateway.result(NEW);
  await announce(1, 3);
  const second = await gateway.result(NEW);
  assert.equal(node.subscriptions, 1);
  await announce(4, 5);
  assert.deepEqual((await poll(first)).result, [1, 2, 3, 4, 5].map(hash));
  assert.deepEqual((await poll(second)).result, [4, 5].map(hash));
  assert.deepEqual((await poll(first)).result, []);
  assert.deepEqual((await gateway.call('eth_getFilterLogs', [first])).error, NOT_FOUND);
  assert.equal(await gateway.result('eth_uninstallFilter', first), true);
  assert.deepEqual((await poll(first)).error, NOT_FOUND);
  assert.deepEqual((await poll(second)).result, []);
});

test('ignores announcements that are not hashes', async (t) => {
  const { node, gateway, poll } = await setUp(t);
  const id = await gateway.result(NEW);
  for (const odd of ['0x1', 'a'.repeat(1_000), { hash: hash(1) }, null, hash(2)]) node.publish(KIND, odd);
  const seen: unknown[] = [];
  await waitFor(async () => seen.push(...((await poll(id)).result as string[])), { what: 'the hash' });
  assert.deepEqual(seen, [hash(2)]);
});

test('a filter that missed more than is remembered is lost, not silently incomplete', async (t) => {
  const { gateway, poll, announce } = await setUp(t);
  const slow = await gateway.result(NEW);
  await announce(1, 40_000);
  const late = await gateway.result(NEW);
  await announce(40_001, 70_000);
  assert.deepEqual((await poll(slow)).error, NOT_FOUND);
  assert.equal(((await poll(late)).result as string[]).length, 30_000);
});

test('the subscription ends when no filter is polled for five minutes, and begins again with the next', async (t) => {
  const { node, gateway, time, poll, announce } = await setUp(t);
  const id = await gateway.result(NEW);
  time.now += 5 * 60_000;
  await announce(1, 1);
  assert.equal(node.subscriptions, 1);
  time.now++;
  await announce(2, 2);
  await waitFor(() => node.subscriptions === 0, { what: 'the node to be unsubscribed' });
  assert.deepEqual((await poll(id)).error, NOT_FOUND);
  const next = await gateway.result(NEW);
  await announce(3, 3);
  assert.deepEqual((await poll(next)).result, [hash(3)]);
});

test('the client gets an error when pending transactions are off or the node announces none', async (t) => {
  const off = startGateway(t, { url: 'http://127.0.0.1:9' });
  assert.deepEqual((await off.call(NEW)).error, {
    code: -32601,
    message: `${NEW} is switched off here (stream.pending)`,
  });
  const { node, gateway, poll, announce } = await setUp(t);
  node.misbehave({ errorFor: { eth_subscribe: { code: -32601, message: 'no such subscription' } } });
  assert.deepEqual((await gateway.call(NEW)).error, {
    code: -32601,
    message: `${NEW} is not available: the node does not announce pending transactions`,
  });
  node.misbehave({});
  const id = await gateway.result(NEW);
  await announce(1, 1);
  assert.deepEqual((await poll(id)).result, [hash(1)]);
});

test('filters are lost when the node refuses after its connection broke', async (t) => {
  const { node, gateway, poll } = await setUp(t);
  const id = await gateway.result(NEW);
  node.misbehave({ errorFor: { eth_subscribe: { code: -32601, message: 'no such subscription' } } });
  node.drop();
  await waitFor(async () => (await poll(id)).error !== undefined, { what: 'the filter to be lost' });
  assert.deepEqual((await poll(id)).error, NOT_FOUND);
});

test('a daemon with stream.pending fills filters with the pending transactions of a real node', async (t) => {
  const cleanup = nestedCleanup(t);
  const anvil = await startAnvil({ manual: true });
  cleanup.after(() => anvil.stop());
  const flags = { '--node-http': anvil.url, '--node-ws': anvil.url.replace('http', 'ws') };
  const daemon = await startTestDaemon(cleanup, { flags, env: { ATLAS_STREAM__PENDING: 'true' } });
  const url = `${daemon.url}/rpc?api_key=${daemon.key}`;
  const { result: id } = await ask(url, NEW);
  const [from] = (await anvil.call('eth_accounts')) as string[];
  const sent = await anvil.call('eth_sendTransaction', [{ from, to: from, value: '0x1' }]);
  const seen = await waitFor(
    async () => {
      const { result } = await ask<string[]>(url, 'eth_getFilterChanges', id);
      return result?.length ? result : null;
    },
    { what: 'the transaction' },
  );
  assert.deepEqual(seen, [sent]);
});

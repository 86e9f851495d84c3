import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { startAnvil } from '../../src/dev/anvil.ts';
import type { UpstreamError } from '../../src/lib/errors.ts';
import { NodeSubscriptions } from '../../src/node/connection.ts';
import { startMisbehavingNode } from '../support/nodes/misbehaving-node.ts';
import { waitFor } from '../support/wait.ts';

import {
  errors,
  FAST_RETRY,
  happened,
  heads,
  log,
  node,
  renewForEachTest,
  start,
  unexpected,
} from './subscribed.ts';

describe('node subscriptions', () => {
  renewForEachTest();

  it('connects at the first subscription and passes events on in order', async () => {
    const subscriptions = start();
    assert.equal(node.connections, 0);
    heads(subscriptions);
    assert.equal(subscriptions.connected, false);
    await happened('connected');
    assert.equal(subscriptions.connected, true);
    for (let n = 0; n < 100; n++) node.publish('newHeads', n);
    await happened('connected', ...Array.from({ length: 100 }, (_, n) => n));
  });

  it('tells subscriptions apart, with ids that are numbers too', async () => {
    node.misbehave({ numericIds: true });
    const subscriptions = start();
    for (const kind of ['a', 'b'])
      subscriptions.subscribe([kind], (event) => log.push([kind, event]), unexpected);
    await happened('connected');
    node.publish('b', 1);
    node.publish('a', 2);
    await happened('connected', ['b', 1], ['a', 2]);
  });

  it('accepts a node that answers every id as a text', async () => {
    node.misbehave({ loose: true });
    heads(start());
    await happened('connected');
    node.publish('newHeads', 1);
    await happened('connected', 1);
  });

  it('reads a message that a proxy passes on as bytes', async () => {
    heads(start());
    await happened('connected');
    const params = { subscription: `0x${'1'.padStart(32, '0')}`, result: 'Größe' };
    node.say(Buffer.from(JSON.stringify({ jsonrpc: '2.0', method: 'eth_subscription', params })));
    await happened('connected', 'Größe');
  });

  it('holds notifications that come before the subscribe reply, and calls onConnected before them', async () => {
    node.misbehave({ earlyEvents: ['early 1', 'early 2'] });
    heads(start());
    await happened('connected', 'early 1', 'early 2');
    node.publish('newHeads', 'later');
    await happened('connected', 'early 1', 'early 2', 'later');
  });

  it('keeps the order over subscriptions while one more is being made', async () => {
    const subscriptions = start();
    heads(subscriptions);
    await happened('connected');
    node.misbehave({ earlyEvents: ['early log'] });
    subscriptions.subscribe(['logs'], (event) => log.push(event), unexpected);
    node.publish('newHeads', 'head');
    await happened('connected', 'head', 'early log');
  });

  it('passes nothing on after unsubscribing, and takes the subscription away from the node', async () => {
    const subscriptions = start();
    const unsubscribe = heads(subscriptions);
    subscriptions.subscribe(['logs'], (event) => log.push(event), unexpected);
    await happened('connected');
    unsubscribe();
    node.publish('newHeads', 'unwanted');
    node.publish('logs', 'wanted');
    await happened('connected', 'wanted');
    await waitFor(() => node.subscriptions === 1, { what: 'one subscription at the node' });
  });

  it('takes away a subscription that was given up before the node answered', async () => {
    const subscriptions = start();
    heads(subscriptions);
    subscriptions.subscribe(['logs'], unexpected, unexpected);
    await happened('connected');
    subscriptions.subscribe(['newPendingTransactions'], unexpected, unexpected)();
    node.misbehave({ earlyEvents: ['marker'] });
    subscriptions.subscribe(['marker'], (event) => log.push(event), unexpected);
    await happened('connected', 'marker');
    await waitFor(() => node.subscriptions === 3, { what: 'three subscriptions at the node' });
    node.publish('newPendingTransactions', 'unwanted');
    node.publish('newHeads', 1);
    await happened('connected', 'marker', 1);
  });

  it('reports a refused subscription each time and keeps the others', async () => {
    const message = `Invalid params${'!'.repeat(1_000)}`;
    node.misbehave({ errorFor: { eth_subscribe: { code: -32602, message } } });
    const refusals: string[] = [];
    const subscriptions = start();
    subscriptions.subscribe(['monadLogs'], unexpected, (error) =>
      refusals.push(`${error.reason} ${error.code} ${error.message}`),
    );
    await happened('connected');
    node.misbehave({});
    heads(subscriptions);
    await waitFor(() => node.subscriptions === 1, { what: 'the second subscription' });
    node.publish('newHeads', 1);
    await happened('connected', 1);
    assert.deepEqual(refusals, [`rpc -32602 eth_subscribe "monadLogs": ${message.slice(0, 300)}`]);
  });

  it('lets others have the event loop while the node sends faster than it is read', async () => {
    const perTurn = [0];
    let counting = true;
    const countTurns = () => {
      perTurn.push(0);
      if (counting) setImmediate(countTurns);
    };
    start().subscribe(
      ['newHeads'],
      () => {
        perTurn[perTurn.length - 1]! += 1;
        const end = performance.now() + 1;
        while (performance.now() < end);
      },
      unexpected,
    );
    await happened('connected');
    countTurns();
    for (let n = 0; n < 200; n++) node.publish('newHeads', 'x'.repeat(10_000));
    await waitFor(() => perTurn.reduce((sum, count) => sum + count) === 200, { what: 'all events' });
    counting = false;
    assert.ok(Math.max(...perTurn) < 40, `${Math.max(...perTurn)} events in one turn`);
  });

  it('sends credentials of the URL as a header and shows neither them nor the path in messages', async () => {
    const url = node.wsUrl.replace('ws://', 'ws://user:pass@').concat('/SECRET');
    heads(start({ url }));
    await happened('connected');
    assert.equal(
      node.upgrades.at(-1)?.headers.authorization,
      `Basic ${Buffer.from('user:pass').toString('base64')}`,
    );
    assert.equal(node.upgrades.at(-1)?.path, '/SECRET');
    await node.close();
    await waitFor(() => errors.length >= 2, { what: 'two errors' });
    for (const { message, cause } of errors) {
      assert.doesNotMatch(`${message} ${cause instanceof Error ? cause.message : ''}`, /SECRET|pass/);
    }
  });
});

describe('node subscriptions at anvil', () => {
  it('gets heads, logs filters and pending transactions, also after the connection broke', async (t) => {
    const anvil = await startAnvil();
    t.after(() => anvil.stop());
    const between = await startMisbehavingNode({ upstream: anvil.url });
    t.after(() => between.close());
    let connections = 0;
    const subscriptions = new NodeSubscriptions({
      url: between.wsUrl,
      retryMs: FAST_RETRY,
      onConnected: () => connections++,
    });
    t.after(() => subscriptions.close());
    const numbers: number[] = [];
    const pending: unknown[] = [];
    subscriptions.subscribe(
      ['newHeads'],
      (event) => numbers.push(Number((event as { number: string }).number)),
      unexpected,
    );
    subscriptions.subscribe(['newPendingTransactions'], (event) => pending.push(event), unexpected);
    subscriptions.subscribe(['logs', { topics: [] }], unexpected, unexpected);
    const refusals: UpstreamError[] = [];
    subscriptions.subscribe(['monadNewHeads'], unexpected, (error) => refusals.push(error));
    await waitFor(() => connections === 1, { what: 'the connection' });
    assert.equal(refusals.length, 1);

    const [from] = (await anvil.call('eth_accounts')) as string[];
    const hash = await anvil.call('eth_sendTransaction', [{ from, to: from, value: '0x1' }]);
    await waitFor(() => numbers.length === 1 && pending.length === 1, {
      what: 'the head and the transaction',
    });
    assert.deepEqual([numbers, pending], [[1], [hash]]);

    between.drop();
    await waitFor(() => connections === 2, { what: 'a new connection' });
    await anvil.call('anvil_mine', ['0x3']);
    await waitFor(() => numbers.length === 4, { what: 'three more heads' });
    assert.deepEqual(numbers, [1, 2, 3, 4]);
    assert.equal(refusals.length, 2);
  });
});

import assert from 'node:assert/strict';
import { createServer, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { startAnvil } from '../../src/dev/anvil.ts';
import { UpstreamError } from '../../src/lib/errors.ts';
import { reportFailuresTo } from '../../src/lib/guard.ts';
import { NodeSubscriptions, type NodeSubscriptionsOptions } from '../../src/node/connection.ts';
import { type MisbehavingNode, NodeError, startMisbehavingNode } from '../support/nodes/misbehaving-node.ts';
import { waitFor } from '../support/wait.ts';

const FAST_RETRY = { first: 5, longest: 20 };

describe('node subscriptions', () => {
  const open: { close(): Promise<void> }[] = [];
  let node: MisbehavingNode;
  /** The log of the test: events, and its own notices. */
  let log: unknown[];
  let errors: UpstreamError[];

  beforeEach(async () => {
    log = [];
    errors = [];
    node = await startMisbehavingNode({ answer: (method) => (method === 'eth_chainId' ? '0x1' : null) });
    open.push(node);
  });
  afterEach(async () => {
    for (const resource of open.splice(0).reverse()) await resource.close();
  });

  function start(options: Partial<NodeSubscriptionsOptions> = {}): NodeSubscriptions {
    const subscriptions = new NodeSubscriptions({
      url: node.wsUrl,
      retryMs: FAST_RETRY,
      onConnected: () => log.push('connected'),
      onDisconnected: (error) => {
        assert.ok(error instanceof UpstreamError);
        errors.push(error);
        log.push('disconnected');
      },
      ...options,
    });
    open.push(subscriptions);
    return subscriptions;
  }

  function heads(subscriptions: NodeSubscriptions): () => void {
    return subscriptions.subscribe(['newHeads'], (event) => log.push(event), unexpected);
  }

  function happened(...expected: unknown[]): Promise<unknown> {
    return waitFor(() => log.length >= expected.length, { what: JSON.stringify(expected) }).then(
      () => assert.deepEqual(log, expected),
      () => assert.deepEqual(log, expected),
    );
  }

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

  it('reconnects when the connection breaks, subscribes again and says so before the first event', async () => {
    const subscriptions = start();
    heads(subscriptions);
    await happened('connected');
    node.misbehave({ earlyEvents: ['after'] });
    node.drop();
    await happened('connected', 'disconnected', 'connected', 'after');
    assert.equal(errors[0]?.reason, 'connection');
    assert.equal(node.subscriptions, 1);
  });

  it('keeps trying while the node is away, with growing waits', async () => {
    const waits: number[] = [];
    const subscriptions = start({
      retryMs: { first: 4, longest: 40 },
      onDisconnected: (error, retryInMs) => {
        errors.push(error);
        waits.push(retryInMs);
      },
    });
    heads(subscriptions);
    await happened('connected');
    await node.close();
    await waitFor(() => waits.length >= 6, { what: 'six attempts' });
    assert.equal(subscriptions.connected, false);
    assert.ok(
      waits.every((wait, i) => wait >= Math.round(Math.min(40, 4 * 2 ** i) * 0.8)),
      String(waits),
    );
    assert.ok(waits.every((wait) => wait <= 40));
    assert.match(errors.at(-1)?.message ?? '', /ECONNREFUSED/);
    await node.listen();
    await happened('connected', 'connected');
    waits.length = 0;
    const lasts = performance.now() + 40;
    await waitFor(() => performance.now() > lasts, { what: 'a connection that lasts' });
    node.drop();
    await waitFor(() => waits.length > 0, { what: 'the client to notice' });
    assert.ok(waits[0]! <= 4, 'the waits begin small again');
  });

  it('backs off from a node that accepts every subscription and then sends junk', async () => {
    const waits: number[] = [];
    const longest = 60_000;
    const subscriptions = start({
      retryMs: { first: 4, longest },
      onConnected: () => node.say('junk'),
      onDisconnected: (error, retryInMs) => {
        errors.push(error);
        waits.push(retryInMs);
      },
    });
    heads(subscriptions);
    await waitFor(() => waits.length >= 6, { what: 'six connections' });
    assert.ok(
      waits.every((wait, i) => wait >= Math.round(4 * 2 ** i * 0.8)),
      String(waits),
    );
    assert.match(errors.at(-1)?.message ?? '', /not a JSON object: junk/);
  });

  it('ends the connection, not the process, when an event cannot be handled', async (t) => {
    const caught: unknown[] = [];
    reportFailuresTo((_place, error) => caught.push(error));
    t.after(() => reportFailuresTo());
    const defect = new TypeError('a defect');
    const subscriptions = start();
    let fails = true;
    const onEvent = (event: unknown) => {
      if (fails) throw defect;
      log.push(event);
    };
    subscriptions.subscribe(['newHeads'], onEvent, unexpected);
    await happened('connected');
    node.publish('newHeads', 1);
    await happened('connected', 'disconnected', 'connected');
    assert.deepEqual(caught, [defect]);
    assert.equal(errors[0]?.reason, 'malformed');
    fails = false;
    node.publish('newHeads', 2);
    await happened('connected', 'disconnected', 'connected', 2);
  });

  it('notices a peer that no longer answers, and reconnects', async () => {
    const subscriptions = start({ idleTimeoutMs: 500, timeoutMs: 2_000 });
    heads(subscriptions);
    await happened('connected');
    node.misbehave({ deaf: true });
    await waitFor(() => errors.length > 0, { what: 'the client to notice' });
    assert.equal(errors[0]?.reason, 'timeout');
    assert.match(errors[0]?.message ?? '', /no message for 500 ms/);
    node.misbehave({});
    await waitFor(() => subscriptions.connected && node.connections === 1, {
      what: 'a new connection, and the dead one to be gone',
    });
  });

  it('stays connected to a quiet node that answers when asked', async () => {
    const subscriptions = start({ idleTimeoutMs: 3_000 }); // the node gets half of it to answer
    let signs = 0;
    node.misbehave({
      replace: (method, _params, result) => {
        if (method === 'eth_chainId') signs += 1;
        return result;
      },
    });
    heads(subscriptions);
    await waitFor(() => signs >= 2, { what: 'two signs of life' });
    await happened('connected');
  });

  it('reconnects on request, when it missed something', async () => {
    const subscriptions = start();
    heads(subscriptions);
    await happened('connected');
    subscriptions.reconnect('block 7 was not announced');
    await happened('connected', 'disconnected', 'connected');
    assert.match(errors[0]?.message ?? '', /block 7 was not announced$/);
    assert.equal(node.subscriptions, 1);
  });

  it('gives up an attempt that is not answered', async () => {
    const silent = await startSilentServer();
    open.push(silent);
    heads(start({ url: `ws://127.0.0.1:${silent.port}`, timeoutMs: 50 }));
    await waitFor(() => errors.length >= 2, { what: 'two attempts' });
    assert.ok(
      errors.every((error) => error.reason === 'timeout'),
      String(errors),
    );
    await waitFor(() => silent.sockets.size <= 1, { what: 'the given up sockets to be gone' });
  });

  it('reconnects after a malformed message, because an event may be lost', async () => {
    const nonsense = [
      'no json',
      '[]',
      '{"jsonrpc":"2.0","method":"eth_subscription","params":{"subscription":{},"result":1}}',
      '{"jsonrpc":"2.0","method":"eth_subscription"}',
      '{"jsonrpc":"2.0","id":null,"error":{"code":-32601,"message":"Parse error"}}',
    ];
    const subscriptions = start();
    heads(subscriptions);
    for (const [at, text] of nonsense.entries()) {
      await waitFor(() => subscriptions.connected, { what: 'the connection' });
      node.say(text);
      await waitFor(() => errors.length === at + 1, { what: `the client to reject ${text}` });
      assert.equal(errors[at]?.reason, 'malformed');
    }
    await waitFor(() => subscriptions.connected && node.connections === 1, {
      what: 'only the last connection',
    });
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

  it('reconnects when the node gives two subscriptions one id, rather than confuse their events', async () => {
    node.misbehave({ sameIds: true });
    const subscriptions = start();
    heads(subscriptions);
    await happened('connected');
    subscriptions.subscribe(['newPendingTransactions'], unexpected, unexpected);
    await waitFor(() => errors.length >= 2, { what: 'the client to reject the ids' });
    assert.match(errors[0]?.message ?? '', /the id "0x0+" belongs to another subscription/);
    node.misbehave({});
    await waitFor(() => subscriptions.connected, { what: 'the connection' });
    node.publish('newHeads', 1);
    await waitFor(() => log.at(-1) === 1, { what: 'the head' });
  });

  it('does not accept a message over the limit', async () => {
    const subscriptions = start({ maxMessageBytes: 1000 });
    heads(subscriptions);
    await happened('connected');
    node.publish('newHeads', 'x'.repeat(2000));
    await happened('connected', 'disconnected', 'connected');
  });

  it('does not hold more than the limit while a subscribe reply is awaited', async () => {
    node.misbehave({ earlyEvents: Array(20).fill('x'.repeat(200)) });
    heads(start({ maxMessageBytes: 1000 }));
    await waitFor(() => errors.length > 0, { what: 'the client to give up' });
    assert.match(errors[0]?.message ?? '', /no reply in \d+ bytes of notifications/);
    assert.ok(!log.includes('connected'));
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

  it('leaves nothing behind when closed, connected or not', async () => {
    const connected = start();
    heads(connected);
    await happened('connected');
    await connected.close();
    assert.equal(connected.connected, false);
    await waitFor(() => node.connections === 0, { what: 'the connection to be gone' });

    const connecting = start();
    heads(connecting);
    await connecting.close();
    const retrying = start({ url: 'ws://127.0.0.1:9' });
    heads(retrying);
    await waitFor(() => errors.length > 0, { what: 'a failed attempt' });
    await retrying.close();
    const before = [...log];
    const never = start();
    await never.close();
    heads(never);
    await waitFor(() => node.connections === 0, { what: 'no connection' });
    assert.deepEqual(log, before);
  });

  it('can be closed from its own callbacks', async () => {
    const subscriptions = start({ onConnected: () => void subscriptions.close() });
    node.misbehave({ earlyEvents: ['late'] });
    heads(subscriptions);
    await waitFor(() => node.connections === 0 && node.upgrades.length === 1, {
      what: 'the connection to be gone',
    });
    assert.deepEqual(log, []);
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

function unexpected(value: unknown): never {
  throw new Error(`not expected: ${value instanceof NodeError ? value.message : JSON.stringify(value)}`);
}

interface SilentServer {
  port: number;
  sockets: Set<Socket>;
  close(): Promise<void>;
}

/** Accepts connections and stays silent. */
async function startSilentServer(): Promise<SilentServer> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket.resume());
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  return {
    port: address.port,
    sockets,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

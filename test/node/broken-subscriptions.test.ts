/** How subscriptions at a node survive what breaks their connection, and what bounds them. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { reportFailuresTo } from '../../src/lib/guard.ts';
import { startTcpProxy } from '../support/nodes/tcp-proxy.ts';
import { waitFor } from '../support/wait.ts';

import { errors, happened, heads, log, node, renewForEachTest, start, unexpected } from './subscribed.ts';

describe('node subscriptions that break', () => {
  renewForEachTest();

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

  it('gives up an attempt that is not answered', async (t) => {
    const silent = await startTcpProxy(t, 9);
    silent.isSilent = true;
    heads(start({ url: `ws://127.0.0.1:${silent.port}`, timeoutMs: 50 }));
    await waitFor(() => errors.length >= 2, { what: 'two attempts' });
    assert.ok(
      errors.every((error) => error.reason === 'timeout'),
      String(errors),
    );
    await waitFor(() => silent.clients.size <= 1, { what: 'the given up sockets to be gone' });
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

/** The rules of the WebSocket endpoints: admission, limits, bad input, and how connections end. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { join } from 'node:path';
import { before, suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';
import type { ReplayNode } from '../../../scripts/simulator/replay/controls.ts';
import { type KeyStore, openKeyStore } from '../../../src/access/keys.ts';
import { ByteBudget } from '../../../src/lib/byte-budget.ts';
import { type CallError, StreamClient } from '../../streams/client.ts';
import { startTestDaemon, type TestDaemon } from '../../support/daemon/daemon.ts';
import { startGeneratedNode, suiteCleanup } from '../../support/nodes/replay.ts';
import { waitFor } from '../../support/wait.ts';
import { BAD_MESSAGES, SIGNALS_MESSAGES } from './bad-messages.ts';
import { OPERATOR_TOKEN, testKeys } from './key-tests.ts';
import { refusal } from './refusal.ts';

const MAX_MESSAGE = 20_000;
const MAX_BACKLOG = 524_288;

const hex = (number: number) => `0x${number.toString(16)}`;

suite('WebSocket endpoints', () => {
  const owner = suiteCleanup();
  let node: ReplayNode;
  let served: TestDaemon;
  let keys: KeyStore;
  const logged: string[] = [];

  before(async () => {
    const chain = { blocks: 100, txPerBlock: 60, startBlock: 1 };
    ({ node } = await startGeneratedNode(owner, chain, { head: 5 }));
    served = await startTestDaemon(owner, {
      flags: { '--node-http': node.url, '--node-ws': node.wsUrl },
      log: { debug() {}, info() {}, warn: (_facts, msg) => void logged.push(msg), error() {} },
      env: {
        ATLAS_ADMIN_TOKEN: OPERATOR_TOKEN,
        ATLAS_STREAM__MAX_MESSAGE_BYTES: String(MAX_MESSAGE),
        ATLAS_STREAM__MAX_BACKLOG_BYTES: String(MAX_BACKLOG),
        ATLAS_RPC__RATE_WAIT_MS: '0',
        ATLAS_STREAM__PING_SECONDS: '2',
        ATLAS_STREAM__IDLE_SECONDS: '8',
      },
    });
    keys = openKeyStore(join(served.dataDir, 'keys.db'));
    owner.after(() => keys.close());
  });

  /** A new key that the daemon already knows. */
  const newKey = async (tier = 'unlimited', allow: string[] = []) => {
    const { key, record } = keys.create({ name: 'test', tier, allow });
    const url = `${served.url}/api/wallet_summary?address=0x${'0'.repeat(40)}`;
    const isKnown = async () => (await fetch(url, { headers: { 'X-API-Key': key } })).status !== 401;
    await waitFor(isKnown, { what: 'the new key to be known' });
    return { key, id: record.id };
  };
  testKeys({ owner, daemon: () => served, keys: () => keys, newKey });

  const open = async (path?: string) => StreamClient.open(owner, served.url, (await newKey()).key, path);

  test('an upgrade without a valid key is refused with the specified body', async () => {
    const wrong = [{}, { headers: { 'X-API-Key': 'atlas_wrong' } }];
    for (const path of ['/ws', '/ws/signals', '/ws?api_key=nonsense']) {
      for (const options of wrong) {
        const refused = await refusal(served.url + path, options);
        assert.equal(refused.status, 401);
        assert.equal(
          refused.body,
          '{"jsonrpc":"2.0","error":{"code":-32600,"message":"Missing or invalid X-API-Key header"}}',
        );
      }
    }
  });

  test('a request without an upgrade gets 426', async () => {
    for (const path of ['/ws', '/ws/signals']) {
      const response = await fetch(served.url + path);
      assert.equal(response.status, 426);
      assert.equal(response.headers.get('upgrade'), 'websocket');
      const { error } = (await response.json()) as { error: { code: string } };
      assert.equal(error.code, 'upgrade_required');
      assert.equal((await fetch(served.url + path, { method: 'HEAD' })).status, 426);
      const posted = await fetch(served.url + path, { method: 'POST', body: '{}' });
      assert.equal(posted.status, 405);
      assert.equal(posted.headers.get('allow'), 'GET, HEAD, OPTIONS');
    }
  });

  test('the key may be a query parameter', async () => {
    const socket = new WebSocket(`${served.url.replace('http', 'ws')}/ws?api_key=${served.key}`);
    owner.after(() => socket.terminate());
    await once(socket, 'open');
    const client = new StreamClient(socket);
    assert.equal(await client.call('eth_chainId'), `0x${node.chainId.toString(16)}`);
    socket.close();
    await client.closed();
  });

  test('the eleventh subscription is refused until another one ends', async () => {
    const client = await open();
    const attempts = await Promise.allSettled(
      Array.from({ length: 14 }, (_, i) => client.subscribe(i % 2 ? 'newHeads' : 'logs')),
    );
    const made = attempts.flatMap((attempt) => (attempt.status === 'fulfilled' ? attempt.value : []));
    assert.equal(made.length, 10);
    for (const attempt of attempts.slice(10)) {
      assert.equal(attempt.status, 'rejected');
      assert.deepEqual(
        { code: attempt.reason.code, message: attempt.reason.message },
        { code: -32005, message: 'subscription limit reached' },
      );
    }
    await client.call('eth_unsubscribe', made[3]?.id);
    await client.subscribe('newHeads');
    client.socket.close();
  });

  test('every method and batch of /rpc is answered, also mixed with subscriptions', async () => {
    const client = await open();
    assert.equal(await client.call('eth_chainId'), `0x${node.chainId.toString(16)}`);
    const refused = (await client.call('eth_accounts').catch((error: CallError) => error)) as CallError;
    assert.equal(refused.code, -32601);
    const before = client.answerTexts.length;
    client.socket.send(
      JSON.stringify([
        { jsonrpc: '2.0', id: 'a', method: 'eth_subscribe', params: ['newHeads'] },
        { jsonrpc: '2.0', id: 'b', method: 'eth_blockNumber', params: [] },
        { jsonrpc: '2.0', id: 'c', method: 'eth_unsubscribe', params: ['0x0'] },
        { jsonrpc: '2.0', method: 'eth_blockNumber' },
        { jsonrpc: '2.0', id: 'd' },
      ]),
    );
    const batch = await client.answerAt(before);
    const answers: { id: string; result?: string; error?: { code: number } }[] = JSON.parse(batch);
    const byId = new Map(answers.map((answer) => [answer.id, answer]));
    assert.equal(answers.length, 4);
    const subscription = byId.get('a')?.result ?? '';
    assert.match(subscription, /^0x[0-9a-f]{32}$/);
    assert.equal(byId.get('b')?.result, `0x${node.stats().head.toString(16)}`);
    assert.equal(byId.get('c')?.error?.code, -32000);
    assert.equal(byId.get('d')?.error?.code, -32600);
    node.mine(1);
    const heads = client.resultsOf(subscription);
    await waitFor(() => heads.length > 0, { what: 'a head for the subscription of the batch' });
    client.socket.close();
  });

  test('bad messages get an error and the connection stays open', async () => {
    const client = await open();
    for (const [i, [text, code]] of BAD_MESSAGES.entries()) {
      client.socket.send(text);
      const answer = await client.answerAt(i);
      const [first] = [JSON.parse(answer)].flat();
      assert.equal(first.error?.code, code, `${text} -> ${answer}`);
    }
    assert.equal(await client.call('eth_chainId'), `0x${node.chainId.toString(16)}`);
    client.socket.close();
  });

  test('/ws/signals has two methods, answers without an id, and refuses bad filters', async () => {
    const client = await open('/ws/signals');
    for (const [i, [text, code]] of SIGNALS_MESSAGES.entries()) {
      client.socket.send(text);
      const { id, result, error } = JSON.parse(await client.answerAt(i));
      assert.equal(id, null);
      if (code === null) assert.match(result, /^0x[0-9a-f]{32}$/);
      else assert.equal(error?.code, code, text);
    }
    const { id } = await client.signals({ events: ['wallet_funded'] });
    assert.equal(await client.call('atlas_unsubscribe', id), true);
    client.socket.close();
  });

  test('binary messages, which web3.py sends, are answered as text', async () => {
    for (const [path, method] of [
      ['/ws', 'eth_subscribe'],
      ['/ws/signals', 'atlas_subscribe'],
    ] as const) {
      const client = await open(path);
      const params = method === 'eth_subscribe' ? ['newHeads'] : [];
      const call = { jsonrpc: '2.0', id: 'é', method, params };
      client.socket.send(Buffer.from(JSON.stringify(call)), { binary: true });
      const { id, result } = JSON.parse(await client.answerAt(0));
      assert.equal(id, 'é');
      assert.match(result, /^0x[0-9a-f]{32}$/);
      client.socket.close();
    }
  });

  test('oversized and non-UTF-8 messages close the connection with their code', async () => {
    const binary = await open();
    const call = Buffer.from('{"jsonrpc":"2.0","id":"\xff","method":"eth_chainId"}', 'latin1');
    binary.socket.send(call, { binary: true });
    assert.deepEqual(await binary.closed(), { code: 1007, reason: 'the message is not UTF-8' });
    const large = await open();
    large.socket.send('x'.repeat(MAX_MESSAGE + 1));
    assert.deepEqual(await large.closed(), {
      code: 1009,
      reason: `message larger than ${MAX_MESSAGE} bytes`,
    });
    const huge = await open();
    huge.socket.send('x'.repeat(MAX_MESSAGE * 10));
    assert.equal((await huge.closed()).code, 1006);
    const fits = await open();
    fits.socket.send('x'.repeat(MAX_MESSAGE));
    assert.match(await fits.answerAt(0), /-32700/);
    fits.socket.close();
  });

  test('a thousand unknown unsubscribes and a burst of subscribes are answered without affecting others', async () => {
    const bystander = await open();
    const heads = await bystander.subscribe('newHeads');
    const client = await open();
    // In four parts: on a slow machine, a thousand at once could hold the event loop longer than one client may.
    for (let part = 0; part < 4; part++) {
      const asked = Array.from({ length: 250 }, (_, i) => client.call('eth_unsubscribe', `0x${part}${i}`));
      for (const outcome of await Promise.allSettled(asked)) {
        assert.equal(outcome.status, 'rejected');
        assert.equal(outcome.reason.code, -32000, String(outcome.reason));
      }
    }
    const burst = await Promise.allSettled(Array.from({ length: 500 }, () => client.subscribe('logs')));
    assert.equal(burst.filter(({ status }) => status === 'fulfilled').length, 10);
    node.mine(2);
    await waitFor(() => heads.results.length === 2, { what: 'two heads' });
    client.socket.close();
    bystander.socket.close();
  });

  test('both endpoints share the answer budget', async (t) => {
    const { key } = await newKey();
    const { mock } = t.mock.method(ByteBudget.prototype, 'forClient');
    for (const path of ['/ws', '/ws/signals']) await StreamClient.open(owner, served.url, key, path);
    assert.equal(mock.callCount(), 2);
    assert.equal(mock.calls[0]?.this, mock.calls[1]?.this);
  });

  test('a client that never reads is closed as a slow consumer without delaying others', async () => {
    const { key } = await newKey();
    const slow = await StreamClient.open(owner, served.url, key);
    for (let i = 0; i < 10; i++) await slow.subscribe('logs');
    const quick = await open();
    const feed = await quick.subscribe<{ blockNumber: string }>('logs');
    slow.socket.pause();
    node.mine(90);
    await waitFor(() => logged.includes('closed a slow consumer'), {
      what: 'the end of patience',
    });
    // It still reads nothing, but no longer occupies a place.
    const others = Array.from({ length: 5 }, () => StreamClient.open(owner, served.url, key));
    for (const { socket } of await Promise.all(others)) socket.close();
    slow.socket.resume();
    assert.deepEqual(await slow.closed(), { code: 1013, reason: 'slow consumer' });
    await waitFor(() => Number(feed.results.at(-1)?.blockNumber) >= node.stats().head - 1, {
      what: 'all logs',
    });
    quick.socket.close();
  });

  test('answers follow at the client’s pace, even many times the backlog', async () => {
    const client = await open();
    client.socket.pause();
    const asked = Array.from({ length: 600 }, (_, i) =>
      client.call('eth_getBlockByNumber', hex(1 + (i % 5)), true),
    );
    const answered = Promise.all(asked);
    answered.catch(() => undefined);
    await sleep(1_000);
    client.socket.ping();
    client.socket.resume();
    const bytes = (await answered).reduce<number>((sum, block) => sum + JSON.stringify(block).length, 0);
    assert.ok(bytes > 20 * MAX_BACKLOG, `${bytes} bytes`);
    client.socket.close();
  });

  test('closes an idle client but not one that answers pings', async () => {
    const { key } = await newKey();
    const silent = new StreamClient(
      new WebSocket(`${served.url.replace('http', 'ws')}/ws?api_key=${key}`, { autoPong: false }),
    );
    owner.after(() => silent.socket.terminate());
    const alive = await StreamClient.open(owner, served.url, key);
    let pings = 0;
    alive.socket.on('ping', () => pings++);
    assert.deepEqual(await silent.closed(), { code: 1000, reason: 'idle for 8 s' });
    assert.ok(pings >= 2 && pings <= 6, `${pings} pings`);
    assert.equal(alive.socket.readyState, WebSocket.OPEN);
    alive.socket.close();
  });

  test('a stall of the process takes no client for idle', async (t) => {
    const client = await open();
    const now = performance.now.bind(performance);
    t.mock.method(performance, 'now', () => now() + 60_000);
    await once(client.socket, 'ping');
    await once(client.socket, 'ping');
    assert.match(await client.call('eth_chainId'), /^0x/);
    client.socket.close();
  });

  test('a shutdown closes every connection with code 1001', async () => {
    const clients = [
      await StreamClient.open(owner, served.url, served.key),
      await StreamClient.open(owner, served.url, served.key, '/ws/signals'),
    ];
    await clients[0]?.subscribe('newHeads');
    await served.daemon.close();
    for (const client of clients) {
      assert.deepEqual(await client.closed(), { code: 1001, reason: 'the server is shutting down' });
    }
  });
});

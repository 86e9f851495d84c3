/** A key with an allow list reaches exactly the listed names, through each interface of the server. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { before, suite, test } from 'node:test';
import { WebSocket } from 'ws';
import { z } from 'zod';
import { type KeyStore, openKeyStore } from '../../src/access/keys.ts';
import { ENDPOINTS } from '../../src/api/endpoints/endpoints.ts';
import { StreamClient } from '../streams/client.ts';
import { startTestDaemon, type TestDaemon } from '../support/daemon/daemon.ts';
import { startGeneratedNode, suiteCleanup } from '../support/nodes/replay.ts';
import { waitFor } from '../support/wait.ts';

const ALLOW_LISTS: readonly string[][] = [
  ['GET /api/wallet_summary'],
  ['GET /api/wallet*', 'net_version'],
  ['POST /api/wallets/batch'],
  ['GET /api/*', 'POST /api/*'],
  ['eth_chainId'],
  ['eth_*'],
  ['eth_subscribe', 'GET /api/search'],
  ['atlas_subscribe'],
  ['atlas_*'],
  ['net_*', 'web3_clientVersion'],
];

/** Answered by the node, the head cache, the filters, and by none of them. */
const METHODS = [
  'eth_chainId',
  'eth_blockNumber',
  'eth_getLogs',
  'eth_newBlockFilter',
  'eth_newPendingTransactionFilter',
  'eth_sendRawTransaction',
  'net_version',
  'web3_clientVersion',
  'ETH_CHAINID',
];
const STREAM_METHODS = ['eth_subscribe', 'eth_unsubscribe'];
const SIGNAL_METHODS = ['atlas_subscribe', 'atlas_unsubscribe'];

const NAMES = ENDPOINTS.map(({ method, path }) => `${method} ${path}`);

const ANSWERS = z.array(z.object({ id: z.number(), error: z.object({ message: z.string() }).optional() }));
const TOOLS = z.object({ result: z.object({ tools: z.array(z.object({ name: z.string() })) }) });

/** The names that a list allows, computed independently of the program. */
function named(allow: readonly string[], names: readonly string[]): string[] {
  const patterns = allow.map((entry) => new RegExp(`^${entry.replaceAll('*', '.*')}$`));
  return names.filter((name) => patterns.some((pattern) => pattern.test(name)));
}

suite('allow lists', () => {
  const owner = suiteCleanup();
  let served: TestDaemon;
  let keys: KeyStore;

  before(async () => {
    const { node } = await startGeneratedNode(owner, { blocks: 20, txPerBlock: 4 });
    served = await startTestDaemon(owner, {
      flags: { '--node-http': node.url, '--node-ws': node.wsUrl },
      env: {
        ATLAS_TIERS__SMALL__REQUESTS_PER_MONTH: '1',
        ATLAS_TIERS__SMALL__REQUESTS_PER_SECOND: '0',
        ATLAS_TIERS__SMALL__CHAIN_DEPTH: '5',
      },
    });
    await served.reaches(20);
    keys = openKeyStore(join(served.dataDir, 'keys.db'));
    owner.after(() => keys.close());
  });

  const ask = (path: string, key: string, init: RequestInit = {}) =>
    fetch(served.url + path, {
      ...init,
      headers: { 'X-API-Key': key, 'Content-Type': 'application/json', Accept: ACCEPT },
    });
  const issue = async (allow: string[]) => {
    const { key, record } = keys.create({ name: 'app', tier: 'unlimited', allow });
    await waitFor(() => isKnown(key), {
      what: 'the new key to be known',
    });
    return { key, id: record.id };
  };
  /** An empty body names no method and no endpoint. */
  const isKnown = async (key: string) =>
    (await ask('/rpc', key, { method: 'POST', body: '' })).status !== 401;

  const endpointsReached = async (key: string) => {
    const reached: string[] = [];
    for (const { method, path } of ENDPOINTS) {
      const statuses = [
        (await ask(path, key, method === 'GET' ? {} : { method, body: '{}' })).status,
        ...(method === 'GET' ? [(await ask(`${path}?limit=1`, key, { method: 'HEAD' })).status] : []),
      ];
      const [first] = statuses;
      assert.ok(
        statuses.every((status) => (status === 403) === (first === 403)),
        `${method} ${path}: ${statuses}`,
      );
      if (first !== 403) reached.push(`${method} ${path}`);
    }
    return reached;
  };

  const calls = (methods: readonly string[]) =>
    methods.map((method, id) => ({ jsonrpc: '2.0', id, method, params: [] }));
  const notRefused = (methods: readonly string[], answers: unknown) =>
    ANSWERS.parse(answers)
      .filter(({ error }) => !error?.message.includes('this key may not call'))
      .map(({ id }) => methods[id]);
  const methodsReached = async (key: string, methods: readonly string[], spell = (text: string) => text) => {
    const post = async (body: unknown): Promise<unknown> =>
      (await ask('/rpc', key, { method: 'POST', body: spell(JSON.stringify(body)) })).json();
    const all = calls(methods);
    const alone = await Promise.all(all.map(post));
    const together = notRefused(methods, await post(all));
    assert.deepEqual(notRefused(methods, alone), together, 'a batch reaches what single calls reach');
    return together;
  };
  /** Null when the endpoint refuses the connection. */
  const messagesReached = async (key: string, path: string, methods: readonly string[]) => {
    const client = await StreamClient.open(owner, served.url, key, path).catch(() => null);
    if (client === null) return null;
    const all = calls(methods);
    for (const call of all) client.socket.send(JSON.stringify(call));
    client.socket.send(JSON.stringify(all));
    await client.answerAt(all.length);
    client.socket.close();
    const texts = client.answerTexts.map((text): unknown => JSON.parse(text));
    const batch = texts.find(Array.isArray);
    const single = notRefused(
      methods,
      texts.filter((answer) => answer !== batch),
    ).sort();
    assert.deepEqual(single, notRefused(methods, batch).sort(), 'a batch reaches what single calls reach');
    return single;
  };

  for (const allow of ALLOW_LISTS) {
    test(`a key that may use ${allow.join(', ')} reaches nothing else`, async () => {
      const { key } = await issue(allow);
      const endpoints = named(allow, NAMES);
      assert.deepEqual(await endpointsReached(key), endpoints);

      const methods = named(allow, METHODS);
      assert.deepEqual(await methodsReached(key, METHODS), methods);
      const escaped = (text: string) => text.replaceAll('_', '\\u005f');
      assert.deepEqual(await methodsReached(key, METHODS, escaped), methods, 'however a name is spelt');

      const onSocket = [...METHODS, ...STREAM_METHODS];
      const isOpen = allow.some((entry) => !/^(GET|POST|atlas)\b|^atlas_/.test(entry));
      const expected = isOpen ? named(allow, onSocket).sort() : null;
      assert.deepEqual(await messagesReached(key, '/ws', onSocket), expected);
      const signals = named(allow, SIGNAL_METHODS);
      assert.deepEqual(
        await messagesReached(key, '/ws/signals', SIGNAL_METHODS),
        signals.includes('atlas_subscribe') ? signals.sort() : null,
      );

      const list = await ask('/mcp', key, { method: 'POST', body: LIST_TOOLS });
      assert.equal(list.status, endpoints.length === 0 ? 403 : 200);
      if (list.status !== 200) return;
      const tools = TOOLS.parse(await list.json()).result.tools.map(({ name }) => name);
      assert.deepEqual(
        tools,
        endpoints.map((name) => name.slice(name.lastIndexOf('/') + 1)),
      );
    });
  }

  test('the last of two method names decides, for the list as for the call', async () => {
    const { key } = await issue(['eth_chainId']);
    const post = async (first: string, second: string) => {
      const body = `{"jsonrpc":"2.0","id":1,"method":"${first}","method":"${second}","params":[]}`;
      return (await ask('/rpc', key, { method: 'POST', body })).text();
    };
    assert.match(await post('eth_chainId', 'eth_blockNumber'), /this key may not call eth_blockNumber/);
    assert.match(await post('eth_blockNumber', 'eth_chainId'), /"result":"0x/);
  });

  test('a rename, another tier, an expiry and a later one act on every face, sockets included', async () => {
    const { key, id } = await issue([]);
    const socket = await StreamClient.open(owner, served.url, key);
    const summary = `/api/wallet_summary?address=0x${'1'.repeat(40)}`;
    const call = JSON.stringify(calls(['eth_chainId'])[0]);
    const statuses = async () => [
      (await ask(summary, key)).status,
      (await ask('/rpc', key, { method: 'POST', body: call })).status,
      (await ask('/mcp', key, { method: 'POST', body: LIST_TOOLS })).status,
    ];
    const become = (expected: number[]) =>
      waitFor(async () => (await statuses()).join() === expected.join(), { what: expected.join() });
    await become([200, 200, 200]);

    keys.update(id, { name: 'renamed' });
    keys.update(id, { tier: 'small' });
    await become([429, 429, 429]);
    await assert.rejects(socket.call('eth_chainId'), { code: -32005 }, 'an open socket has the new tier too');
    keys.update(id, { tier: 'unlimited' });
    await become([200, 200, 200]);
    assert.match(await socket.call('eth_chainId'), /^0x/, 'and keeps its connection');

    keys.update(id, { expiresAt: Date.now() - 1 });
    await become([401, 401, 401]);
    assert.deepEqual(await socket.closed(), { code: 1008, reason: 'the API key is no longer valid' });
    for (const path of ['/ws', '/ws/signals']) {
      const refused = new WebSocket(served.url.replace('http', 'ws') + path, {
        headers: { 'X-API-Key': key },
      });
      const status = await new Promise((resolve) => {
        refused.on('unexpected-response', (_, response) => resolve(response.statusCode));
        refused.on('open', () => resolve('open'));
      });
      refused.on('error', () => undefined);
      refused.terminate();
      assert.equal(status, 401, path);
    }
    keys.update(id, { expiresAt: null });
    await become([200, 200, 200]);
  });
});

const ACCEPT = 'application/json, text/event-stream';
const LIST_TOOLS = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}';

/** `/mcp` through the protocol's own client, in the current version of the protocol and in an older one. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import {
  Client,
  StreamableHTTPClientTransport,
  type VersionNegotiationMode,
} from '@modelcontextprotocol/client';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { ENDPOINTS } from '../../../src/api/endpoints/endpoints.ts';
import { address, createIndex, txHash } from '../../support/index/index-fixture.ts';
import { errorOf, queriesOf, type Serving, serve } from '../serving.ts';

async function setUp(t: TestContext, tier = 'unlimited'): Promise<{ serving: Serving; client: Client }> {
  const index = createIndex(t, 100);
  index.append([
    { a: [{ from: 'zero', to: 'funder', amount: 9n * 10n ** 18n }] },
    { b: [{ from: 'funder', to: 'alice', amount: 10n ** 18n }], c: [{ from: 'funder', to: 'bob' }] },
    { d: [{ kind: 'erc20', token: 'coin', from: 'zero', to: 'alice', amount: 500n }] },
  ]);
  const serving = await serve(t, { index });
  const key = tier === 'unlimited' ? serving.key : serving.access.keys.create({ name: 'agent', tier }).key;
  return { serving, client: await connect(t, serving, key) };
}

const MODERN = '2026-07-28';
const ERAS: readonly [version: string, mode: VersionNegotiationMode][] = [
  ['2025-11-25', 'legacy'],
  [MODERN, 'auto'],
];

async function connect(
  t: TestContext,
  serving: Serving,
  key: string,
  mode: VersionNegotiationMode = 'legacy',
): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
  const url = new URL(`${serving.server.url}/mcp`);
  await client.connect(
    new StreamableHTTPClientTransport(url, { requestInit: { headers: { 'x-api-key': key } } }),
  );
  t.after(() => client.close());
  return client;
}

const WALLET = { address: address('alice') };
const PARAMS: Record<string, Record<string, unknown>> = {
  batch: { addresses: [address('alice'), address('nobody')] },
  token_stats: { token: address('coin') },
  token_holders: { token: address('coin'), limit: 5 },
  token_first_buyers: { token: address('coin') },
  token_launch: { token: address('coin'), limit: 5 },
  token_traders: { token: address('coin'), limit: 5 },
  token_transfers: { token: address('coin'), limit: 5 },
  whale_transfers: { min_mon: 0.5, blocks: 100 },
  transaction: { tx: txHash('b') },
  transaction_transfers: { tx: txHash('b') },
  address_names: { addresses: `${address('alice')},${address('coin')}` },
  method_names: { selectors: '0xa9059cbb' },
  block_transfers: { block: 101 },
  search: { q: address('alice') },
  chain_stats: {},
  latest_blocks: { limit: 5 },
  queries: {},
};

function objectOf(value: unknown): object {
  assert.ok(typeof value === 'object' && value !== null);
  return value;
}

/** The answer as it reads a second later. */
function aSecondLater(answer: object): object {
  return 'headAgeSeconds' in answer
    ? { ...answer, headAgeSeconds: Number(answer.headAgeSeconds) + 1 }
    : answer;
}

for (const [version, mode] of ERAS) {
  test(`there is a tool per endpoint, and each answers what the endpoint answers (${version})`, async (t) => {
    const { serving } = await setUp(t);
    const client = await connect(t, serving, serving.key, mode);
    assert.equal(client.getNegotiatedProtocolVersion(), version);
    const { tools } = await client.listTools();
    assert.deepEqual(
      tools.map(({ name }) => name),
      ENDPOINTS.map(({ path }) => path.split('/').at(-1)),
    );
    for (const { method, path } of ENDPOINTS) {
      const name = path.split('/').at(-1) ?? '';
      const params = PARAMS[name] ?? WALLET;
      // The client refuses an answer that does not match the tool's output schema.
      const result = await client.callTool({ name, arguments: params });
      const structuredContent = objectOf(result.structuredContent);
      const query = new URLSearchParams(
        Object.entries(params).map(([key, value]): [string, string] => [key, String(value)]),
      );
      const answer =
        method === 'GET'
          ? await serving.fetch(`${path}?${query}`)
          : await serving.post(path, JSON.stringify(params));
      const expected = await answer.json();
      assert.equal(answer.status, 200, `${name} ${JSON.stringify(expected)}`);
      assert.ok(!result.isError, name);
      const isLater = isDeepStrictEqual(aSecondLater(structuredContent), expected);
      assert.deepEqual(isLater ? expected : structuredContent, expected, name);
      const [text] = result.content;
      assert.deepEqual(text?.type === 'text' && JSON.parse(text.text), structuredContent, name);
    }
  });
}

/** Names and schemas of a schema's properties, at any depth. */
function* propertiesOf(schema: unknown, path = ''): Generator<[path: string, schema: object]> {
  if (typeof schema !== 'object' || schema === null) return;
  for (const [key, value] of Object.entries(schema)) {
    if (key !== 'properties') yield* propertiesOf(value, key === '$defs' ? path : `${path}`);
    else
      for (const [name, property] of Object.entries<object>(value)) {
        yield [`${path}${name}`, property];
        yield* propertiesOf(property, `${path}${name}.`);
      }
  }
}

test('each tool describes its whole answer, and each amount in it with its unit', async (t) => {
  const { client } = await setUp(t);
  const { tools } = await client.listTools();
  for (const { name, outputSchema } of tools) {
    assert.equal(outputSchema?.type, 'object', name);
    const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, formats: { 'date-time': true } });
    const endpoint = ENDPOINTS.find(({ path }) => path.endsWith(`/${name}`));
    const answer = { ...endpoint?.example.response, historicalCoverageStartBlock: 1 };
    const example = new Map<string, unknown>(Object.entries(answer));
    const properties = Object.keys(outputSchema?.properties ?? {});
    assert.ok(ajv.validate(outputSchema, answer), `${name}: ${ajv.errorsText()}`);
    for (const field of example.keys()) {
      assert.ok(properties.includes(field), `${name} does not describe ${field}`);
      const rest = Object.fromEntries([...example].filter(([other]) => other !== field));
      assert.ok(!ajv.validate(outputSchema, rest), `${name} does not require ${field}`);
    }
    const amounts = [...propertiesOf(outputSchema)].filter(
      ([path]) =>
        /(amount|balance|native|received|sent|minMon|supply)[^.]*$/i.test(path) &&
        !/(Label|Count|Reason|Share)$/.test(path),
    );
    for (const [path, schema] of amounts) {
      const text = JSON.stringify(schema);
      if (!text.includes('"string"') && !text.includes('"number"')) continue; // a record
      assert.match(text, /wei|base unit|smallest unit|whole coins/i, `${name}: ${path} has no unit`);
    }
  }
  const instructions = client.getInstructions() ?? '';
  for (const word of ['wei', 'base units', 'whole coins', 'amountWei', 'decimals', 'min_mon'])
    assert.ok(instructions.includes(word), `the instructions do not say ${word}`);
});

test('the list of tools stays small enough to be read by a model', async (t) => {
  const { client } = await setUp(t);
  const { tools } = await client.listTools();
  const sizes = tools.map((tool) => JSON.stringify(tool).length);
  const sum = sizes.reduce((total, size) => total + size, 0);
  assert.ok(sum / tools.length < 4_700, `${sum} bytes for ${tools.length} tools`);
  assert.ok(Math.max(...sizes) < 13_400, `${Math.max(...sizes)} bytes for one tool`);
});

test('a call with unknown arguments is refused and names them', async (t) => {
  const { client } = await setUp(t);
  const call = async (name: string, given: Record<string, unknown>) => {
    const { isError, content } = await client.callTool({ name, arguments: given });
    assert.equal(isError, true, JSON.stringify(content));
    return JSON.stringify(content);
  };
  assert.match(
    await call('address_transfers', { ...WALLET, tokens: address('coin'), directon: 'in', x: 1 }),
    new RegExp(
      String.raw`invalid_parameter.*unknown argument .*tokens.* \(did you mean .*token.*\), .*directon.* ` +
        String.raw`\(did you mean .*direction.*\), .*x.*; the arguments are address, direction,`,
    ),
  );
  for (const name of ['format', 'seen', 'api_key'])
    assert.match(await call('address_transfers', { ...WALLET, [name]: 'csv' }), /unknown argument/);
  const batch = { addresses: [WALLET.address], field: ['summary'] };
  assert.match(await call('batch', batch), /unknown argument .*field.* \(did you mean .*fields/);
  for (const odd of [[[[]]], [{}], {}])
    assert.match(await call('wallet_summary', { address: odd }), /invalid_parameter.*address must be plain/);
  const { tools } = await client.listTools();
  for (const { name, inputSchema } of tools) assert.equal(inputSchema.additionalProperties, false, name);
});

test('an unexpected error reaches the log and not the client', async (t) => {
  const index = createIndex(t, 100);
  index.append([{ a: [{ from: 'funder', to: 'alice' }] }]);
  const unused = async () => null;
  const texts = ['the secret of the node', '[\nthe secret, no list of problems]'];
  const nodeReads = {
    blockOfTransaction: unused,
    transaction: unused,
    blockByHash: unused,
    balancesAt: () => Promise.reject(new Error(texts.shift())),
    sendersOf: async () => [],
  };
  const serving = await serve(t, { index, nodeReads });
  const client = await connect(t, serving, serving.key);
  const given = { ...WALLET, native_balance: true };
  for (const _ of [...texts]) {
    const call = client.callTool({ name: 'wallet_summary', arguments: given });
    await assert.rejects(call, ({ message }) => !/secret/.test(message) && /internal error/.test(message));
  }
  assert.deepEqual(texts, []);
  assert.match(serving.logs.join(''), /the secret of the node/);
});

test('a wallet dossier and a funding graph are resources made of the endpoints answers', async (t) => {
  const { serving, client } = await setUp(t);
  const { resourceTemplates } = await client.listResourceTemplates();
  assert.deepEqual(
    resourceTemplates.map(({ uriTemplate }) => uriTemplate),
    ['atlas://wallet/{address}', 'atlas://funding/{address}'],
  );
  const read = async (uri: string) => {
    const [content] = (await client.readResource({ uri })).contents;
    assert.ok(content !== undefined && 'text' in content && typeof content.text === 'string');
    return JSON.parse(content.text) as Record<string, unknown>;
  };
  const dossier = await read(`atlas://wallet/${address('alice')}`);
  const graph = await read(`atlas://funding/${address('bob')}`);
  assert.deepEqual(
    dossier.wallet_summary,
    await serving.json(`/api/wallet_summary?address=${address('alice')}`),
  );
  assert.deepEqual(graph.funding_chain, await serving.json(`/api/funding_chain?address=${address('bob')}`));
  assert.deepEqual(Object.keys(graph), ['funding_chain', 'funding_recipients', 'coordinated_wallets']);
  await assert.rejects(client.readResource({ uri: 'atlas://wallet/0x1' }), /known are atlas:/);
});

test('a key, its rate and the size of a body bound what an agent may do', async (t) => {
  const { serving, client } = await setUp(t, 'tiny');
  // Connecting took the three requests of this month: two messages, and a GET for a stream that is not offered.
  await assert.rejects(client.listTools(), /quota_exceeded/);
  const post = (body: string, headers: Record<string, string> = {}) =>
    fetch(`${serving.server.url}/mcp`, {
      method: 'POST',
      body,
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'x-api-key': serving.key,
        ...headers,
      },
    });
  assert.equal((await post('{}', { 'x-api-key': 'wrong' })).status, 401);
  assert.match(await (await post('nonsense')).text(), /-32700/);
  assert.match(await (await post('null')).text(), /-32600/);
  assert.equal((await post('{"jsonrpc":"2.0","method":"notifications/initialized"}')).status, 202);
  const ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
  for (const accept of ['application/json', '*/*', 'text/html, application/*;q=0.5', 'APPLICATION/JSON ']) {
    assert.equal((await post(ping, { accept })).status, 200, accept);
  }
  for (const accept of ['text/html', 'application/jsonp', 'application/json;q=0', 'text/event-stream']) {
    assert.equal((await post(ping, { accept })).status, 406, accept);
  }
  assert.equal((await post(`"${'x'.repeat(70_000)}"`)).status, 413);
  assert.equal((await post(`[${Array(21).fill(ping).join()}]`)).status, 400);
  assert.equal((await serving.fetch('/mcp')).status, 405);
});

test('the current protocol has its own headers, errors and subscriptions, and no stream stays open', async (t) => {
  const { serving } = await setUp(t);
  const meta = {
    'io.modelcontextprotocol/protocolVersion': MODERN,
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const post = (method: string, params: object, headers: Record<string, string> = {}) =>
    serving.post(
      '/mcp',
      JSON.stringify({ jsonrpc: '2.0', id: 7, method, params: { ...params, _meta: meta } }),
      {
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': MODERN,
        'mcp-method': method,
        ...headers,
      },
    );
  const called = await post(
    'tools/call',
    { name: 'wallet_summary', arguments: WALLET },
    { 'mcp-name': 'wallet_summary' },
  );
  assert.equal(called.headers.get('content-type'), 'application/json');
  assert.match(await called.text(), /"structuredContent":\{"address"/);
  assert.equal((await post('tools/call', { name: 'wallet_summary' }, { 'mcp-name': 'other' })).status, 400);
  assert.equal((await post('tools/list', {}, { 'mcp-method': '' })).status, 400);
  assert.equal((await post('no/such', {})).status, 404);
  const everything = { toolsListChanged: true, resourceSubscriptions: [`atlas://wallet/${WALLET.address}`] };
  const listening = await post('subscriptions/listen', { notifications: everything });
  assert.match(await listening.text(), /subscriptions\/acknowledged.*"id":7,"result"/s);
});

test('a key with an allow list has the endpoints on it, as tools and on REST, and no others', async (t) => {
  const { serving } = await setUp(t);
  const issue = (allow: string[]) =>
    serving.access.keys.create({ name: 'agent', tier: 'unlimited', allow }).key;
  const key = issue(['GET /api/wallet_*']);
  const client = await connect(t, serving, key);
  const { tools } = await client.listTools();
  assert.ok(tools.length > 3 && tools.every(({ name }) => name.startsWith('wallet_')));
  await assert.rejects(client.callTool({ name: 'funding_chain', arguments: WALLET }), /there is no tool/);
  await client.readResource({ uri: `atlas://wallet/${WALLET.address}` });
  await assert.rejects(client.readResource({ uri: `atlas://funding/${WALLET.address}` }), /may not use/);

  const ask = async (path: string, withKey: string, init: RequestInit = {}) =>
    fetch(serving.server.url + path, {
      ...init,
      headers: { 'x-api-key': withKey, 'content-type': 'application/json' },
    });
  assert.equal((await ask(`/api/wallet_summary?address=${WALLET.address}`, key)).status, 200);
  const refused = await ask(`/api/funding_chain?address=${WALLET.address}`, key);
  assert.equal(refused.status, 403);
  assert.ok(refused.headers.has('ratelimit-limit'));
  assert.equal((await errorOf(refused)).error.code, 'not_allowed');
  const batch = { method: 'POST', body: JSON.stringify({ addresses: [WALLET.address] }) };
  assert.equal((await ask('/api/wallets/batch', key, batch)).status, 403);
  const list = { method: 'POST', body: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}' };
  assert.equal((await ask('/mcp', issue(['eth_call']), list)).status, 403);
});

test('a named query is a tool for the keys that may call it, and follows a change', async (t) => {
  const queries = `
[queries.holders_of]
description = "Holders of a token"
sql = "SELECT holder_address, balance FROM holders WHERE token_address = :token AND balance_real >= :least"
params = { token = "address", least = { type = "integer", default = 0, min = 0 } }
[queries.for_tiny]
sql = "SELECT 1 AS one"
tier = "tiny"
`;
  const index = createIndex(t, 100);
  index.append([{ d: [{ kind: 'erc20', token: 'coin', from: 'zero', to: 'alice', amount: 500n }] }]);
  const serving = await serve(t, { index, queries });
  const client = await connect(t, serving, serving.key);
  const { tools } = await client.listTools();
  const tool = tools.find(({ name }) => name === 'holders_of');
  assert.equal(tool?.description, 'Holders of a token');
  assert.deepEqual(Object.keys(tool?.inputSchema.properties ?? {}), ['token', 'least', 'limit']);
  assert.deepEqual(tool?.inputSchema.required, ['token']);
  assert.ok(JSON.stringify(tool).length < 4_700);
  assert.ok(!tools.some(({ name }) => name === 'for_tiny'));
  const token = address('coin');
  const call = (args: Record<string, unknown>) => client.callTool({ name: 'holders_of', arguments: args });
  const { structuredContent } = await call({ token, least: 500 });
  assert.deepEqual(Object(structuredContent).rows, [{ holder_address: address('alice'), balance: '500' }]);
  for (const [args, message] of [
    [{}, /token is required/],
    [{ token, least: -1 }, /least must be a whole number from 0/],
    [{ token, least: 1e21 }, /least must be/],
    [{ token, least: 'x' }, /least must be/],
    [{ token, lest: 1 }, /did you mean "least"|least/],
    [{ token: 5 }, /token must be an address/],
  ] as const) {
    const refused = await call(args);
    assert.equal(refused.isError, true);
    assert.match(JSON.stringify(refused.content), message);
  }
  await assert.rejects(client.callTool({ name: 'for_tiny', arguments: {} }), /there is no tool/);
  serving.queries.offer(queriesOf('[queries.other]\nsql = "SELECT 2 AS two"\n'));
  assert.ok((await client.listTools()).tools.some(({ name }) => name === 'other'));
  await assert.rejects(call({ token }), /there is no tool/);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Validator } from '@seriousme/openapi-schema-validator';
import { ENDPOINTS } from '../../../src/api/endpoints/endpoints.ts';
import { RPC_OPERATION } from '../../../src/api/openapi/openapi.ts';
import { COMPONENTS } from '../../../src/api/openapi/openapi-components.ts';
import { serve, statusAt } from '../../server/serving.ts';
import { PLAIN_PAYMENT } from '../../support/clients/node-reads.ts';
import { checkAnswer, document } from '../../support/clients/openapi.ts';
import { address, createIndex } from '../../support/index/index-fixture.ts';

const RPC_RESPONSES: Record<number, { headers?: object; $ref?: string }> = RPC_OPERATION.responses;

test('the document is valid OpenAPI 3.1', async () => {
  const validator = new Validator();
  const { valid, errors } = await validator.validate(JSON.parse(JSON.stringify(document)));
  assert.equal(valid, true, JSON.stringify(errors));
  assert.equal(validator.version, '3.1');
});

test('a document with a mistake is invalid', async () => {
  const { valid } = await new Validator().validate({ ...structuredClone(document), info: { title: 'x' } });
  assert.equal(valid, false);
});

test('every endpoint of the specification is documented with its method and parameters', () => {
  const described = Object.entries(document.paths).map(([path, methods]) => {
    const [method = '', operation] = Object.entries(methods)[0] ?? [];
    const parameters = operation?.parameters.map(({ name, required }) => (required ? `${name}!` : name));
    return `${method} ${path} ${parameters?.join(' ')}`.trim();
  });
  assert.deepEqual(described.sort(), [
    'get /api/address_names addresses! format seen',
    'get /api/address_transfers address! direction limit cursor before_block after_block since until ' +
      'include_internal type token counterparty min_mon format seen',
    'get /api/balance_history address! token since until points format seen',
    'get /api/block_transfers block! limit cursor format seen',
    'get /api/chain_stats blocks seen',
    'get /api/coordinated_wallets address! limit cursor format seen',
    'get /api/funding_chain address! depth format seen',
    'get /api/funding_recipients address! blocks limit cursor format seen',
    'get /api/latest_blocks limit cursor format seen',
    'get /api/latest_native_in address! seen',
    'get /api/method_names selectors! format seen',
    'get /api/queries format seen',
    'get /api/recent_token_transfers_out address! blocks limit cursor format seen',
    'get /api/search q! format seen',
    'get /api/token_first_buyers token! limit cursor format seen',
    'get /api/token_holders token! limit cursor include_contracts format seen',
    'get /api/token_launch token! limit quote sniper_blocks bundle_wallets fresh_blocks format seen',
    'get /api/token_stats token! exclude seen',
    'get /api/token_traders token! quote order blocks limit cursor include_contracts format seen',
    'get /api/token_transfers token! limit cursor before_block after_block since until type counterparty ' +
      'min_amount token_id format seen',
    'get /api/transaction tx! seen',
    'get /api/transaction_transfers tx! limit cursor format seen',
    'get /api/wallet_counterparties address! limit cursor format seen',
    'get /api/wallet_funding_source address! seen',
    'get /api/wallet_label address! seen',
    'get /api/wallet_profit address! quote token limit cursor format seen',
    'get /api/wallet_summary address! native_balance seen',
    'get /api/wallet_tokens address! include_zero token moved_since block limit cursor format seen',
    'get /api/wallet_trades address! token kind quote since until initiated limit cursor format seen',
    'get /api/whale_transfers min_mon blocks limit after_id after_block cursor format seen',
    'get /healthz',
    'get /readyz',
    'get /status',
    'post /api/wallets/batch',
    'post /rpc',
  ]);
});

test('each answer and each record in it is one named schema, and every reference resolves', () => {
  const text = JSON.stringify(document);
  const named = Object.keys(document.components.schemas);
  const names = [
    ...['ActiveToken', 'ActiveWallet', 'BatchEntry', 'ChainRates', 'CoordinatedWallet', 'Counterparty'],
    ...['FirstBuyer', 'Funding', 'FundingHop', 'FundingRecipient', 'Label', 'PlainTransfer', 'SearchResult'],
    ...['SentTransfer', 'TokenHolder', 'Transfer', 'WalletStats', 'WalletToken', 'WhaleTransfer'],
  ];
  for (const name of names) assert.ok(named.includes(name), name);
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const { responses } of Object.values(methods)) {
      if (path === '/rpc') continue;
      const { $ref = '' } = responses[200].content['application/json'].schema;
      assert.equal(String($ref), `#/components/schemas/${answerNames[path] ?? pascalCase(path)}`);
    }
  }
  for (const [, section = '', name = ''] of text.matchAll(/"\$ref":"#\/(?:components\/(\w+)\/)?([^"]+)"/g)) {
    const components: Record<string, object> = { ...document.components };
    assert.ok(name in (components[section] ?? {}), `${section}/${name}`);
  }
});

const answerNames: Record<string, string> = { '/healthz': 'Health', '/readyz': 'Ready', '/status': 'Status' };

function pascalCase(path: string): string {
  return path.replace('/api', '').replace(/[/_](\w)/g, (_, letter: string) => letter.toUpperCase());
}

test('limits and defaults match the contract', () => {
  const limits = Object.entries(document.paths).flatMap(([path, { get }]) =>
    (get?.parameters ?? [])
      .filter(({ name }) => name === 'limit' || name === 'blocks' || name === 'depth')
      .map(
        ({ name, schema }) =>
          `${path.slice(5)} ${name} ${schema.default} ${schema.minimum}..${schema.maximum}`,
      ),
  );
  assert.deepEqual(limits.sort(), [
    'address_transfers limit 100 1..500',
    'block_transfers limit 50 1..200',
    'chain_stats blocks 100 1..1000',
    'coordinated_wallets limit 50 1..200',
    'funding_chain depth undefined 1..10',
    'funding_recipients blocks 10000 1..1000000',
    'funding_recipients limit 100 1..200',
    'latest_blocks limit 50 1..200',
    'recent_token_transfers_out blocks 10000 1..1000000',
    'recent_token_transfers_out limit 50 1..200',
    'token_first_buyers limit 20 1..200',
    'token_holders limit 50 1..200',
    'token_launch limit 20 1..200',
    'token_traders blocks undefined 1..1000000',
    'token_traders limit 50 1..200',
    'token_transfers limit 100 1..500',
    'transaction_transfers limit 50 1..200',
    'wallet_counterparties limit 50 1..200',
    'wallet_profit limit 50 1..200',
    'wallet_tokens limit 50 1..200',
    'wallet_trades limit 50 1..200',
    'whale_transfers blocks 10000 1..1000000',
    'whale_transfers limit 50 1..200',
  ]);
});

test('a default is a value of its parameter, so that a client may send it', () => {
  for (const [path, { get }] of Object.entries(document.paths))
    for (const { name, schema } of get?.parameters ?? []) {
      if (schema.default === undefined) continue;
      assert.equal(
        typeof schema.default,
        schema.type === 'integer' ? 'number' : schema.type,
        `${path} ${name}`,
      );
    }
});

test("each endpoint's example is a valid request and a valid answer", async (t) => {
  const index = createIndex(t, 4711); // the block of the examples
  const token = String(ENDPOINTS.flatMap(({ example }) => Reflect.get(example.params, 'token') ?? [])[0]);
  index.append([
    {
      a: [
        { from: 'bob', to: 'alice' },
        { kind: 'erc20', token, from: 'bob', to: 'alice' },
      ],
    },
  ]);
  const { fetch, post, state } = await serve(t, {
    index,
    nodeReads: {
      blockOfTransaction: async () => index.writer.head(),
      transaction: async () => ({ ...PLAIN_PAYMENT, block: index.writer.head() }),
      blockByHash: async () => index.writer.head(),
      balancesAt: async () => new Map(),
      sendersOf: async () => [],
    },
  });
  for (const { method, path, example } of ENDPOINTS) {
    checkAnswer(path, { ...example.response, historicalCoverageStartBlock: 1 });
    const query = Object.entries(example.params)
      .map(([name, value]) => `${name}=${value}`)
      .join('&');
    const response =
      method === 'GET' ? await fetch(`${path}?${query}`) : await post(path, JSON.stringify(example.params));
    assert.equal(response.status, 200, path);
    checkAnswer(path, await response.json());
  }
  Object.assign(state, statusAt(4711));
  for (const path of ['/healthz', '/readyz', '/status']) {
    const response = await fetch(path);
    assert.equal(response.status, 200, path);
    checkAnswer(path, await response.json());
  }
});

test('an answer with a missing, extra or mistyped field does not match the document', async (t) => {
  const { index, json } = await serve(t);
  index.append([{ a: [{ from: 'bob', to: 'alice' }] }]);
  const answer = await json(`/api/wallet_summary?address=${address('alice')}`);
  const { txCount: _, ...shorter } = answer;
  assert.throws(() => checkAnswer('/api/wallet_summary', shorter), /txCount/);
  assert.throws(() => checkAnswer('/api/wallet_summary', { ...answer, more: 1 }), /additional properties/);
  assert.throws(() => checkAnswer('/api/wallet_summary', { ...answer, txCount: '1' }), /integer/);
  assert.throws(() => checkAnswer('/api/wallet_summary', { ...answer, lastActivity: '2026' }), /format/);
});

test('the headers of answers and of every kind of error match the document', async (t) => {
  const { index, access, server } = await serve(t);
  const { key } = access.keys.create({ name: 'visitor', tier: 'free' });
  const path = '/api/funding_chain';
  const query = `?address=${address('alice')}`;
  const ask = (search: string, headers: Record<string, string> = { 'X-API-Key': key }) =>
    fetch(`${server.url}${path}${search}`, { headers });
  const described = ({ status }: Response) => {
    const inline = document.paths[path]?.get?.responses[200].headers ?? {};
    const name = {
      304: 'NotModified',
      400: 'BadRequest',
      401: 'Unauthorized',
      403: 'Forbidden',
      503: 'Unavailable',
    }[status];
    const shared: Record<string, { description: string; headers?: object }> = COMPONENTS.responses;
    return Object.keys(name === undefined ? inline : (shared[name]?.headers ?? {}))
      .filter((header) => header !== 'X-Next-Cursor') // of CSV
      .sort();
  };
  const sent = ({ headers }: Response) =>
    Object.keys(COMPONENTS.headers)
      .filter((name) => headers.has(name))
      .sort();
  const empty = await ask(query);
  index.append([{ a: [{ from: 'bob', to: 'alice' }] }]);
  index.rewrite(1, [{ a: [{ from: 'bob', to: 'alice' }] }]); // X-Indexed-Rewrites needs a repair
  const good = await ask(query);
  const answers = [
    empty,
    good,
    await ask(query, { 'X-API-Key': key, 'If-None-Match': good.headers.get('etag') ?? '' }),
    await ask('?address=alice'),
    await ask(query, {}),
    await ask(`${query}&depth=9`),
  ];
  assert.deepEqual(
    answers.map(({ status }) => status),
    [503, 200, 304, 400, 401, 403],
  );
  for (const answer of answers) assert.deepEqual(sent(answer), described(answer), `${answer.status}`);
});

test('/rpc answers and their headers match the document', async (t) => {
  const { access, post } = await serve(t);
  const { key } = access.keys.create({ name: 'used up', tier: 'tiny' });
  const ask = (body: unknown, headers = {}) => post('/rpc', JSON.stringify(body), headers);
  const call = { jsonrpc: '2.0', id: 1, method: 'no_method' };
  const answers = {
    200: await ask([call, call]),
    204: await ask({ ...call, id: undefined }),
    401: await ask(call, { 'X-API-Key': '' }),
    413: await ask('x'.repeat(2_000_000)),
    415: await ask(call, { 'Content-Encoding': 'gzip' }),
    429: await ask([call, call, call, call], { 'X-API-Key': key }),
    502: await ask({ ...call, method: 'eth_gasPrice' }), // its node is away
  };
  for (const [status, response] of Object.entries(answers)) {
    assert.equal(String(response.status), status);
    const sent = Object.keys(COMPONENTS.headers).filter((name) => response.headers.has(name));
    const { [Number(status)]: described } = RPC_RESPONSES;
    assert.deepEqual(sent.sort(), Object.keys(described?.headers ?? {}).sort(), status);
    if (status !== '204' && status !== '401') checkAnswer('/rpc', await response.json());
  }
  checkAnswer('/rpc', await (await ask(call)).json());
});

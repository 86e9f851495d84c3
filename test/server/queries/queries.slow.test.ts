/** Named queries over HTTP: who may call them, their parameters, and their answers. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { z } from 'zod';
import { pause } from '../../../src/lib/async.ts';
import { suiteCleanup } from '../../support/cleanup.ts';
import { address, blockHash, createIndex } from '../../support/index/index-fixture.ts';
import { errorOf, queriesOf, type Serving, type ServingOptions, serve } from '../serving.ts';

const QUERIES = `
[queries.top_holders]
description = "The largest holders of a token"
sql = """
SELECT holder_address, balance FROM holders WHERE token_address = :token
ORDER BY balance_real DESC LIMIT :most"""
params = { token = "address", most = { type = "integer", default = 10, min = 1, max = 100 } }
[queries.echo]
sql = "SELECT :t AS t, :i AS i, typeof(:i) AS type, :a AS a, length(:t) AS characters"
[queries.echo.params]
t = { type = "text", default = "" }
i = { type = "integer", default = 0, description = "Any number" }
a = { type = "address", optional = true }
[queries.plain]
sql = "SELECT transfer_type FROM transfers ORDER BY id DESC"
limit = 2
[queries.for_tiny]
sql = "SELECT 1 AS one"
tier = ["tiny", "growth"]
[queries.at]
sql = "SELECT number FROM blocks WHERE timestamp >= :since"
params.since = "text"
[queries.clock]
sql = "SELECT datetime() AS now"
[queries.odd]
sql = "SELECT 1 AS x, 2 AS x, 3 AS \\"10\\", '=1+1' AS f, x'00ff' AS b, 9007199254740993 AS n, null AS z, 4 AS \\"2\\""
[queries.list]
sql = "SELECT value FROM json_each(:list)"
params.list = "text"
[queries.endless]
sql = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c"
timeout_seconds = 1
`;

const ANSWER = z.object({
  columns: z.array(z.string()),
  rows: z.array(z.record(z.string(), z.unknown())),
  count: z.int(),
  cut: z.string().nullable(),
});

const PATHS = z.object({
  paths: z.record(
    z.string(),
    z.object({
      get: z
        .object({
          summary: z.string(),
          parameters: z.array(
            z.object({
              name: z.string(),
              required: z.boolean(),
              schema: z.looseObject({ type: z.string() }),
            }),
          ),
        })
        .optional(),
    }),
  ),
});

/** As listed, of an optional parameter without more. */
const PARAMETER = { required: false, default: null, minimum: null, maximum: null, description: '' };

async function jsonOf(response: Response): Promise<z.infer<typeof ANSWER>> {
  return ANSWER.parse(await response.json());
}

function start(t: { after(close: () => void | Promise<void>): void }, options: ServingOptions = {}) {
  const index = createIndex(t, 100);
  index.append([
    { a: [{ from: 'zero', to: 'funder', amount: 9n * 10n ** 18n }] },
    { b: [{ kind: 'erc20', token: 'coin', from: 'zero', to: 'alice', amount: 500n }] },
    { c: [{ kind: 'erc20', token: 'coin', from: 'zero', to: 'bob', amount: 700n }] },
  ]);
  return serve(t, { index, queries: QUERIES, ...options });
}

describe('a named query', () => {
  let serving: Serving;
  const cleanup = suiteCleanup();
  before(async () => {
    serving = await start(cleanup);
  });

  const ask = (query: string, init?: RequestInit) => serving.fetch(`/api/queries/${query}`, init);

  async function rowsOf(query: string): Promise<Record<string, unknown>[]> {
    const response = await ask(query);
    const text = await response.text();
    assert.equal(response.status, 200, text);
    return ANSWER.parse(JSON.parse(text)).rows;
  }

  async function refusal(query: string, status = 400): Promise<string> {
    const response = await ask(query);
    assert.equal(response.status, status, query);
    const { error } = await errorOf(response);
    return `${error.code} ${error.param ?? ''}: ${error.message}`;
  }

  test('answers with its rows and what to know about them', async () => {
    const response = await ask(`top_holders?token=${address('coin')}`);
    assert.equal(response.status, 200);
    assert.deepEqual(await response.json(), {
      name: 'top_holders',
      columns: ['holder_address', 'balance'],
      rows: [
        { holder_address: address('bob'), balance: '700' },
        { holder_address: address('alice'), balance: '500' },
      ],
      count: 2,
      cut: null,
      head: { blockNumber: 102, blockHash: blockHash(102), timestamp: '2023-11-14T22:16:44.000Z' },
      gaps: 0,
      damage: null,
      historicalCoverageStartBlock: 100,
    });
    assert.equal(response.headers.get('x-indexed-block'), '102');
    assert.equal(response.headers.get('x-indexed-hash'), blockHash(102));
    assert.ok(response.headers.has('ratelimit-limit'));
    assert.deepEqual(await rowsOf(`top_holders?token=${address('nobody')}`), []);
  });

  test('needs its parameters, in their form and within their bounds', async () => {
    const token = address('coin');
    const upper = `0x${token.slice(2).toUpperCase()}`;
    assert.equal((await rowsOf(`top_holders?token=${upper}&most=1`)).length, 1);
    assert.equal((await rowsOf(`top_holders?token=${token}&most=001&unknown=1`)).length, 1);
    const refusals: [query: string, refusal: RegExp][] = [
      ['top_holders', /^invalid_address token: token is required; it must be an address/],
      ['top_holders?token=', /^invalid_address token: /],
      [`top_holders?token=${token.slice(0, -1)}`, /^invalid_address token: /],
      [`top_holders?token=${token.slice(2)}`, /^invalid_address token: /],
      [
        `top_holders?token=${token}&token=${token}`,
        /^invalid_parameter token: token is given more than once/,
      ],
      [
        `top_holders?token=${token}&most=0`,
        /^invalid_parameter most: most must be a whole number from 1 to 100/,
      ],
      [`top_holders?token=${token}&most=101`, /^invalid_parameter most/],
      [
        `top_holders?token=${token}&limit=0`,
        /^invalid_parameter limit: limit must be an integer from 1 to 1000/,
      ],
      [`top_holders?token=${token}&limit=1001`, /^invalid_parameter limit/],
      [`top_holders?token=${token}&format=xml`, /^invalid_parameter format/],
      [`top_holders?token=${token}&seen=1`, /^invalid_parameter seen/],
      [
        'echo?i=1.5',
        /^invalid_parameter i: i must be a whole number from -9223372036854775808 to 9223372036854775807/,
      ],
      ['echo?i=1e3', /^invalid_parameter i/],
      ['echo?i=', /^invalid_parameter i/],
      ['echo?i=--1', /^invalid_parameter i/],
      ['echo?i=9223372036854775808', /^invalid_parameter i/],
      ['echo?i=-9223372036854775809', /^invalid_parameter i/],
      [`echo?i=${'9'.repeat(5_000)}`, /^invalid_parameter i/],
      ['echo?t=a%00b', /^invalid_parameter t: t must be a text without NUL characters/],
      ['echo?t=%ff', /^invalid_parameter : the query string has bad percent encoding/],
      [`echo?t=${'x'.repeat(10_001)}`, /^invalid_parameter t: t must have at most 10000 characters/],
      ['echo?a=0x12', /^invalid_address a/],
    ];
    for (const [query, pattern] of refusals) assert.match(await refusal(query), pattern, query.slice(0, 80));
  });

  test('binds integers as such, texts as they are, and NULL where an optional one is absent', async () => {
    const [defaults] = await rowsOf('echo');
    assert.deepEqual(defaults, { t: '', i: 0, type: 'integer', a: null, characters: 0 });
    for (const [sent, shown] of [
      ['9223372036854775807', '9223372036854775807'],
      ['-9223372036854775808', '-9223372036854775808'],
      ['-7', -7],
      ['-0', 0],
      ['9007199254740991', 9007199254740991],
    ])
      assert.deepEqual((await rowsOf(`echo?i=${sent}`))[0]?.i, shown);
    const text = `'; DROP TABLE transfers; -- "${'é'.repeat(1_000)}`;
    assert.equal((await rowsOf(`echo?t=${encodeURIComponent(text)}`))[0]?.t, text);
    assert.equal((await rowsOf(`echo?t=${'x'.repeat(10_000)}`))[0]?.characters, 10_000);
    assert.equal(
      (await rowsOf(`echo?a=${address('coin').toUpperCase().replace('X', 'x')}`))[0]?.a,
      address('coin'),
    );
    // As a literal would be: in the spelling of the tables.
    assert.deepEqual(await rowsOf('at?since=2023-11-14T22:16:44.000Z'), [{ number: 102 }]);
    assert.match(await refusal('list?list=nonsense'), /^query_refused : malformed JSON/);
    assert.deepEqual(await rowsOf('list?list=[1,"a"]'), [{ value: 1 }, { value: 'a' }]);
  });

  test('says when rows are cut, also in CSV, whose cells are defused', async () => {
    const { count, cut } = await jsonOf(await ask('plain'));
    assert.deepEqual([count, cut], [2, 'rows']);
    const csv = await ask('plain?format=csv&limit=1');
    assert.equal(csv.headers.get('content-type'), 'text/csv; charset=utf-8');
    assert.equal(csv.headers.get('x-cut'), 'rows');
    assert.equal(await csv.text(), 'transfer_type\r\nerc20\r\n');
    const odd = await ask('odd?format=csv');
    assert.equal(odd.headers.get('x-cut'), null);
    assert.equal(await odd.text(), "x,x_2,10,f,b,n,z,2\r\n1,2,3,'=1+1,0x00ff,9007199254740993,,4\r\n");
    const { columns, rows } = await jsonOf(await ask('odd'));
    assert.deepEqual(columns, ['x', 'x_2', '10', 'f', 'b', 'n', 'z', '2']);
    assert.equal(rows[0]?.n, '9007199254740993');
    assert.equal(
      await (await ask(`top_holders?token=${address('x')}&format=csv`)).text(),
      'holder_address,balance\r\n',
    );
  });

  test('is 304 until something changes, unless it asks for the time', async () => {
    const first = await ask('plain');
    const etag = first.headers.get('etag') ?? '';
    assert.match(etag, /^W\//);
    assert.equal((await ask('plain', { headers: { 'If-None-Match': etag } })).status, 304);
    assert.equal((await ask('plain?limit=1', { headers: { 'If-None-Match': etag } })).status, 200);
    const clock = await ask('clock', { headers: { 'If-None-Match': '*' } });
    assert.deepEqual([clock.status, clock.headers.get('etag')], [200, null]);
    const seen = `${first.headers.get('x-indexed-block')}:${first.headers.get('x-indexed-hash')}`;
    assert.equal((await ask(`plain?seen=${seen}`)).status, 200);
    assert.equal((await ask(`plain?seen=101:${blockHash(101, 'other')}`)).status, 409);
    const head = await ask('plain', { method: 'HEAD' });
    assert.deepEqual([head.status, await head.text()], [200, '']);
  });

  test('is unknown, or not GET, in the form of other paths', async () => {
    assert.match(await refusal('nothing', 404), /^not_found : there is no such query/);
    assert.equal((await ask('toString')).status, 404);
    assert.equal((await ask('')).status, 404);
    assert.equal((await ask('plain/more')).status, 404);
    const post = await ask('plain', { method: 'POST', body: '{}' });
    assert.deepEqual([post.status, post.headers.get('allow')], [405, 'GET, HEAD, OPTIONS']);
    assert.equal((await ask('nothing', { method: 'POST' })).status, 404);
    assert.equal((await fetch(`${serving.server.url}/api/queries/nothing`)).status, 401);
    assert.equal((await fetch(`${serving.server.url}/api/queries/plain`)).status, 401);
    assert.equal((await fetch(`${serving.server.url}/api/queries`)).status, 401);
  });

  test('that takes too long is ended with one line, while the server serves on', async () => {
    assert.match(await refusal('endless', 503), /^timeout : the query took longer than its 1 s/);
    assert.ok(serving.logs.some((line) => line.includes('"query":"endless"')));
    assert.equal((await ask('plain')).status, 200);
  });

  test('GET /api/queries lists them', async () => {
    const { queries, count } = await serving.json('/api/queries');
    assert.equal(count, 9);
    assert.ok(Array.isArray(queries));
    assert.deepEqual(queries[0], {
      name: 'top_holders',
      path: '/api/queries/top_holders',
      description: 'The largest holders of a token',
      parameters: [
        { ...PARAMETER, name: 'token', type: 'address', required: true },
        { ...PARAMETER, name: 'most', type: 'integer', default: '10', minimum: '1', maximum: '100' },
      ],
      columns: ['holder_address', 'balance'],
      limit: 1000,
      timeoutSeconds: 10,
      tiers: [],
    });
    assert.doesNotMatch(JSON.stringify(queries), /SELECT/);
  });
});

test('the tier of a key, its allow list and its rate decide who may call a query', async (t) => {
  const { server, access, fetch: call } = await start(t);
  const get = (path: string, key: string) =>
    fetch(`${server.url}/api/queries/${path}`, { headers: { 'X-API-Key': key } });
  const refused = await call('/api/queries/for_tiny');
  assert.equal(refused.status, 403);
  assert.deepEqual((await errorOf(refused)).error, {
    code: 'tier_limit',
    message:
      'the query for_tiny is for keys of the tiers tiny, growth, and this one is of the tier unlimited',
  });
  const tiny = access.keys.create({ name: 'tiny', tier: 'tiny' }).key;
  assert.equal((await get('for_tiny', tiny)).status, 200);
  assert.equal((await get('plain', tiny)).status, 200);
  assert.equal((await get('nothing', tiny)).status, 404);
  assert.equal((await get('plain', tiny)).status, 429); // three requests a month
  const allow = ['GET /api/queries/plain'];
  const limited = access.keys.create({ name: 'limited', tier: 'unlimited', allow }).key;
  assert.equal((await get('plain', limited)).status, 200);
  assert.equal((await errorOf(await get('clock', limited))).error.code, 'not_allowed');
});

test('visitors of a public explorer have the queries of their tier alone', async (t) => {
  const { server, access } = await start(t, {
    settings: { public_explorer: true },
    queries: `${QUERIES}\n[queries.for_visitors]\nsql = "SELECT 1 AS one"\ntier = "free"\n`,
  });
  const { record } = access.keys.create({ name: 'visitors', tier: 'free' });
  access.keys.publicKeyId = record.id;
  const get = (path: string) =>
    fetch(`${server.url}/api/queries/${path}`, { headers: { 'X-API-Key': 'public' } });
  assert.equal((await get('for_visitors')).status, 200);
  const refused = await get('plain');
  assert.equal(refused.status, 403);
  assert.match((await errorOf(refused)).error.message, /^the query plain is not for visitors: send a key/);
  assert.equal((await get('for_tiny')).status, 403);
});

test('two run, eight wait, more get 429; who leaves makes room', async (t) => {
  const { fetch: call, pool } = await start(t);
  const slow = [call('/api/queries/endless'), call('/api/queries/endless')];
  await untilRunning(pool, 2, 0);
  const left = new AbortController();
  const leaving = call('/api/queries/plain?limit=1', { signal: left.signal }).catch(() => undefined);
  const waiting = Array.from({ length: 7 }, () => call('/api/queries/plain'));
  await untilRunning(pool, 2, 8);
  const busy = await call('/api/queries/plain');
  assert.deepEqual([busy.status, busy.headers.get('retry-after')], [429, '2']);
  const { error, retryAfter } = await errorOf(busy);
  assert.deepEqual([error.code, retryAfter], ['busy', 2]);
  left.abort();
  await leaving;
  await untilRunning(pool, 2, 7);
  assert.deepEqual([...new Set((await Promise.all(slow)).map(({ status }) => status))], [503]);
  for (const answer of await Promise.all(waiting)) assert.equal(answer.status, 200);
});

async function untilRunning(pool: Serving['pool'], running: number, waiting: number): Promise<void> {
  for (let i = 0; i < 400; i++) {
    const state = pool.state();
    if (state.running === running && state.waiting === waiting) return;
    await pause(5);
  }
  assert.fail(`the pool has ${JSON.stringify(pool.state())}`);
}

test('before the first block a query is not ready', async (t) => {
  const { fetch: call } = await serve(t, { index: createIndex(t, 1), queries: QUERIES });
  const answer = await call('/api/queries/plain');
  assert.equal(answer.status, 503);
  assert.equal((await errorOf(answer)).error.code, 'not_ready');
});

test('the documents list each query with its parameters, and follow a change', async (t) => {
  const { server, queries, fetch: call } = await start(t);
  const paths = async () => PATHS.parse(await (await fetch(`${server.url}/openapi.json`)).json()).paths;
  const get = (await paths())['/api/queries/top_holders']?.get;
  assert.ok(get?.parameters);
  assert.equal(get.summary, 'The largest holders of a token');
  assert.deepEqual(
    get.parameters.map(({ name, required, schema }) => [name, required, schema.type].join(' ')),
    [
      'token true string',
      'most false integer',
      'limit false integer',
      'format false string',
      'seen false string',
    ],
  );
  assert.deepEqual(get.parameters[1]?.schema, { type: 'integer', minimum: 1, maximum: 100, default: 10 });
  const docs = async () => (await fetch(`${server.url}/docs`)).text();
  assert.match(await docs(), /<code>\/api\/queries\/top_holders<\/code>/);
  const before = await call('/api/queries/plain');
  queries.offer(
    queriesOf('[queries.plain]\nsql = "SELECT 2 AS two"\n[queries.added]\nsql = "SELECT 3 AS three"\n'),
  );
  assert.deepEqual(
    Object.keys(await paths()).filter((path) => path.startsWith('/api/queries/')),
    ['/api/queries/plain', '/api/queries/added'],
  );
  assert.doesNotMatch(await docs(), /top_holders<\/code>/);
  assert.equal((await call('/api/queries/top_holders')).status, 404);
  assert.deepEqual((await jsonOf(await call('/api/queries/added'))).rows, [{ three: 3 }]);
  const headers = { 'If-None-Match': before.headers.get('etag') ?? '' };
  const after = await call('/api/queries/plain', { headers });
  assert.deepEqual([after.status, (await jsonOf(after)).rows], [200, [{ two: 2 }]]);
});

test('metrics have the name of a query that exists, and no other', async (t) => {
  const { fetch: call, metrics } = await start(t);
  await call('/api/queries/plain');
  await call('/api/queries/made_up_by_a_client');
  const text = await metrics.render();
  assert.match(text, /route="\/api\/queries\/plain"/);
  assert.doesNotMatch(text, /made_up/);
});

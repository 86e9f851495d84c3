import assert from 'node:assert/strict';
import { test } from 'node:test';
import { generateKey } from '../../../src/access/key.ts';
import { address } from '../../support/index/index-fixture.ts';
import { errorOf, serve } from '../serving.ts';

const REFUSAL = '{"jsonrpc":"2.0","error":{"code":-32600,"message":"Missing or invalid X-API-Key header"}}';
const SUMMARY = `/api/wallet_summary?address=${address('alice')}`;

test('a missing or invalid key gives the specified 401 everywhere a key is needed', async (t) => {
  const { server, access, index, logs } = await serve(t);
  index.append([{}]);
  const revoked = access.keys.create({ name: 'gone', tier: 'free' });
  access.keys.revoke(revoked.record.id);
  const wrongKeys = [
    undefined,
    '',
    'nonsense',
    generateKey(),
    revoked.key,
    `${revoked.key} `,
    'x'.repeat(3_000),
  ];
  const requests: [string, RequestInit][] = [
    [SUMMARY, {}],
    ['/api/wallets/batch', { method: 'POST', body: '{}' }],
    ['/api/nothing_here', {}],
    ['/rpc', { method: 'POST', body: '{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}' }],
    ['/rpc', {}],
  ];
  for (const wrong of wrongKeys) {
    for (const [path, init] of requests) {
      const headers = new Headers(wrong === undefined ? [] : [['X-API-Key', wrong]]);
      const response = await fetch(server.url + path, { ...init, headers });
      assert.equal(response.status, 401, `${path} with ${wrong} ${logs.join('')}`);
      assert.equal(await response.text(), REFUSAL);
      assert.equal(response.headers.get('content-type'), 'application/json');
      assert.equal(response.headers.get('ratelimit-limit'), null);
    }
  }
});

test('the key is taken from the header or from the query parameter, the header first', async (t) => {
  const { server, key, index } = await serve(t);
  index.append([{}]);
  const status = async (path: string, headers: Record<string, string> = {}) =>
    (await fetch(server.url + path, { headers })).status;
  assert.equal(await status(SUMMARY, { 'x-api-key': key }), 200);
  assert.equal(await status(`${SUMMARY}&api_key=${key}`), 200);
  assert.equal(await status(`${SUMMARY}&api_key=${key.replace('_', '%5F')}`), 200);
  assert.equal(await status(`${SUMMARY}&api%5Fkey=${key}`), 200);
  assert.equal(await status(`${SUMMARY}&api_key=${key}`, { 'x-api-key': 'wrong' }), 401);
  assert.equal(await status(`${SUMMARY}&api_key=wrong`, { 'x-api-key': key }), 200);
  assert.equal(await status(`${SUMMARY}&my_api_key=${key}`), 401);
  assert.equal(await status(`${SUMMARY}&api_key=%zz`), 401);
  const bearer = { authorization: `Bearer ${key}` };
  assert.equal(await status(SUMMARY, bearer), 200);
  assert.equal(await status(SUMMARY, { ...bearer, 'x-api-key': 'wrong' }), 401);
  assert.equal(await status(`${SUMMARY}&api_key=wrong`, bearer), 200);
  assert.equal(
    await status(`${SUMMARY}&api_key=${key}`, { authorization: 'Bearer of another service' }),
    200,
  );
  for (const wrong of ['Bearer atlas_', `Bearer ${key} x`, `Basic ${key}`, key]) {
    assert.equal(await status(SUMMARY, { authorization: wrong }), 401, wrong);
  }
  const ping = { method: 'POST', body: '{"jsonrpc":"2.0","id":1,"method":"ping"}' };
  const headers = { ...bearer, 'content-type': 'application/json' };
  assert.equal((await fetch(`${server.url}/mcp`, { ...ping, headers })).status, 200);
});

test('the running server refuses a revoked key and accepts a new one', async (t) => {
  const { server, access, index } = await serve(t);
  index.append([{}]);
  const status = async (key: string) => (await fetch(`${server.url}${SUMMARY}&api_key=${key}`)).status;
  const { key, record } = access.keys.create({ name: 'app', tier: 'free' });
  assert.equal(await status(key), 200);
  const rotated = access.keys.rotate(record.id);
  assert.deepEqual([await status(key), await status(rotated.key)], [401, 200]);
  access.keys.revoke(record.id);
  assert.equal(await status(rotated.key), 401);
});

test('over the rate: 429 with the specified body and headers, and the bucket refills', async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() });
  const { server, access, index } = await serve(t);
  index.append([{}]);
  const { key } = access.keys.create({ name: 'app', tier: 'free' });
  const call = () => fetch(server.url + SUMMARY, { headers: { 'X-API-Key': key } });
  const burst = await Promise.all(Array.from({ length: 12 }, call));
  const refused = burst.filter(({ status }) => status === 429);
  const admitted = burst.filter(({ status }) => status === 200);
  assert.deepEqual([admitted.length, refused.length], [5, 7]);
  for (const response of burst) {
    assert.equal(response.headers.get('ratelimit-limit'), '5');
    assert.match(response.headers.get('ratelimit-remaining') ?? '', /^[0-4]$/);
    assert.match(response.headers.get('ratelimit-reset') ?? '', /^[01]$/);
  }
  const returns = refused.map(({ headers }) => headers.get('retry-after'));
  assert.deepEqual(returns.toSorted(), ['1', '1', '1', '1', '1', '2', '2'], 'spread at the rate');
  const one = refused[returns.indexOf('1')]!;
  assert.equal(one.headers.get('access-control-allow-origin'), '*');
  const body = await errorOf(one);
  assert.equal(body.error.code, 'rate_limited');
  assert.equal(body.retryAfter, 1);
  t.mock.timers.tick(199);
  assert.equal((await call()).status, 429);
  t.mock.timers.tick(1);
  assert.equal((await call()).status, 200);
  assert.equal((await call()).status, 429);
});

test('over the quota: 429 with the time until the next month', async (t) => {
  const now = Date.UTC(2026, 10, 21, 8);
  t.mock.timers.enable({ apis: ['Date'], now });
  const { server, access, index } = await serve(t);
  index.append([{}]);
  const { key } = access.keys.create({ name: 'app', tier: 'tiny' });
  const call = () => fetch(server.url + SUMMARY, { headers: { 'X-API-Key': key } });
  for (const left of ['2', '1', '0']) {
    const response = await call();
    assert.equal(response.status, 200);
    assert.equal(response.headers.get('ratelimit-remaining'), left);
    assert.equal(response.headers.get('ratelimit-limit'), '3');
  }
  const response = await call();
  const { error, retryAfter } = await errorOf(response);
  assert.equal(response.status, 429);
  assert.equal(error.code, 'quota_exceeded');
  assert.equal(retryAfter, (Date.UTC(2026, 11, 1) - now) / 1000);
  assert.equal(response.headers.get('retry-after'), String(retryAfter));
  for (const [method, path] of [
    ['POST', '/api/wallets/batch'],
    ['POST', SUMMARY],
    ['GET', '/api/nothing'],
  ] as const) {
    const other = await fetch(server.url + path, { method, headers: { 'X-API-Key': key } });
    assert.equal(other.status, 429, `${method} ${path}`);
    assert.equal(other.headers.get('ratelimit-remaining'), '0');
  }
});

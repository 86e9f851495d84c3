import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { address } from '../../support/index/index-fixture.ts';
import { serve } from '../serving.ts';

const SUMMARY = `/api/wallet_summary?address=${address('alice')}`;

test('an answer carries its block and ETag, and must be revalidated', async (t) => {
  const { fetch, index } = await serve(t);
  index.append([{}, { a: [{ from: 'bob', to: 'alice' }] }]);
  const { headers } = await fetch(SUMMARY);
  assert.equal(headers.get('x-indexed-block'), '2');
  assert.match(headers.get('etag') ?? '', /^W\/"2-[0-9a-f]{16}-[0-9a-z]+-[0-9]+"$/);
  assert.equal(headers.get('cache-control'), 'private, max-age=0, must-revalidate');
  assert.equal(headers.get('content-type'), 'application/json');
  assert.equal(headers.get('access-control-allow-origin'), '*');
  assert.match(headers.get('access-control-expose-headers') ?? '', /X-Indexed-Block.*RateLimit-Limit/);
});

test('If-None-Match gives 304 until the block or the URL changes', async (t) => {
  const { fetch, index } = await serve(t);
  index.append([{ a: [{ from: 'bob', to: 'alice' }] }, {}]);
  const etag = (await fetch(SUMMARY)).headers.get('etag') ?? '';
  const status = async (path: string, tag: string) =>
    (await fetch(path, { headers: { 'If-None-Match': tag } })).status;

  const same = await fetch(SUMMARY, { headers: { 'If-None-Match': etag } });
  assert.equal(same.status, 304);
  assert.equal(await same.text(), '');
  assert.equal(same.headers.get('etag'), etag);
  assert.equal(same.headers.get('x-indexed-block'), '2');
  assert.notEqual(same.headers.get('ratelimit-limit'), null);
  assert.equal(await status(SUMMARY, `"other", ${etag.slice(2)}`), 304);
  assert.equal(await status(SUMMARY, '"other"'), 200);
  assert.equal(await status(`/api/wallet_summary?address=${address('bob')}`, etag), 200);

  assert.equal(await status('/api/wallet_summary?address=nonsense', etag), 400);

  index.writer.rollback(1);
  index.append([{}], 'other branch');
  assert.equal(await status(SUMMARY, etag), 200, 'another block at the same height');
});

test('If-None-Match: * gives 304 for every answer that would succeed', async (t) => {
  const { fetch, index } = await serve(t);
  index.append([{ a: [{ from: 'bob', to: 'alice' }] }]);
  const ask = (path: string) => fetch(path, { headers: { 'If-None-Match': '*' } });
  for (const path of [SUMMARY, '/api/whale_transfers', '/docs']) {
    const answer = await ask(path);
    assert.equal(answer.status, 304, path);
    assert.equal(answer.headers.get('etag'), (await fetch(path)).headers.get('etag'));
  }
  assert.equal((await ask('/api/wallet_summary?address=nonsense')).status, 400);
  assert.equal((await ask('/api/nothing')).status, 404);
});

test('new token metadata and a changed tier change the ETag', async (t) => {
  const { fetch, index, access } = await serve(t);
  index.append([{ a: [{ from: 'bob', to: 'alice', kind: 'erc20', token: 'gold' }] }]);
  const stats = `/api/token_stats?token=${address('gold')}`;
  const before = (await fetch(stats)).headers.get('etag') ?? '';
  const again = () => fetch(stats, { headers: { 'If-None-Match': before } });
  assert.equal((await again()).status, 304);
  const said = { name: 'Gold', symbol: 'GLD', decimals: 6, tries: 1, retryAt: null };
  index.writer.saveMetadata([{ address: address('gold'), ...said }]);
  await nextTurn();
  const later = await again();
  assert.equal(later.status, 200);
  assert.match(await later.text(), /"symbol":"GLD"/);

  const chain = `/api/funding_chain?address=${address('alice')}&depth=10`;
  const tag = (await fetch(chain)).headers.get('etag') ?? '';
  const { key } = access.keys.create({ name: 'free', tier: 'free' });
  const headers = { 'If-None-Match': tag };
  assert.equal((await fetch(chain, { headers })).status, 304);
  assert.equal((await fetch(chain, { headers: { ...headers, 'X-API-Key': key } })).status, 403);
});

test('headers may include a browser’s cookies of other services', async (t) => {
  const { fetch, index } = await serve(t);
  index.append([{}]);
  const statusWith = async (path: string, bytes: number) =>
    (await fetch(path, { headers: { Cookie: `session=${'a'.repeat(bytes)}` } })).status;
  for (const path of ['/', '/api/whale_transfers']) {
    assert.equal(await statusWith(path, 12_000), 200, path);
    assert.equal(await statusWith(path, 20_000), 431, path);
  }
});

test('HEAD is answered like GET, without the body', async (t) => {
  const { fetch, server, index } = await serve(t);
  index.append([{ a: [{ from: 'bob', to: 'alice' }] }]);
  const paths = [SUMMARY, '/api/whale_transfers', '/api/wallet_summary?address=nonsense', '/api/nothing'];
  for (const path of [
    ...paths,
    '/healthz',
    '/readyz',
    '/status',
    '/openapi.json',
    '/docs',
    '/',
    '/nothing',
  ]) {
    const [get, head] = [await fetch(path), await fetch(path, { method: 'HEAD' })];
    const body = await get.text();
    assert.equal(head.status, get.status, path);
    assert.equal(await head.text(), '');
    for (const name of ['content-type', 'etag', 'x-indexed-block', 'cache-control']) {
      assert.equal(head.headers.get(name), get.headers.get(name), `${name} of ${path}`);
    }
    if (get.headers.get('content-encoding') === null && path !== '/status')
      assert.equal(head.headers.get('content-length'), String(Buffer.byteLength(body)), path);
  }
  const refused = await globalThis.fetch(server.url + SUMMARY, { method: 'HEAD' });
  assert.equal(refused.status, 401);
  assert.equal((await fetch('/rpc', { method: 'HEAD' })).status, 405);
});

test('HEAD announces the close of the connection and closes it', async (t) => {
  const { server, key } = await serve(t);
  const closing = async (path: string) => {
    const client = connect(server.port, '127.0.0.1');
    t.after(() => void client.destroy());
    let text = '';
    client.setEncoding('utf8').on('data', (piece: string) => {
      text += piece;
    });
    client.write(`HEAD ${path} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\n\r\n`);
    await once(client, 'close', { signal: AbortSignal.timeout(5_000) });
    return text;
  };
  for (const path of ['/healthz', '/', '/api/wallet_summary', '/nothing']) {
    const answer = await closing(path);
    assert.match(answer, /^HTTP\/1\.1 \d+ .*\r\nConnection: close\r\n.*Content-Length: \d+\r\n\r\n$/s, path);
  }
});

test('errors must not be stored and carry no ETag', async (t) => {
  const { fetch, index } = await serve(t);
  index.append([{}]);
  const response = await fetch('/api/wallet_summary?address=nonsense');
  assert.equal(response.status, 400);
  assert.equal(response.headers.get('cache-control'), 'no-store');
  assert.equal(response.headers.get('etag'), null);
  assert.notEqual(response.headers.get('ratelimit-remaining'), null);
});

test('a preflight is answered without a key', async (t) => {
  const { server } = await serve(t);
  for (const path of ['/api/wallet_summary', '/api/wallets/batch', '/rpc']) {
    const response = await fetch(server.url + path, {
      method: 'OPTIONS',
      headers: { Origin: 'https://a.example' },
    });
    assert.equal(response.status, 200);
    await response.text();
    assert.equal(response.headers.get('access-control-allow-origin'), '*');
    assert.match(response.headers.get('access-control-allow-methods') ?? '', /GET, POST, OPTIONS/);
    assert.match(response.headers.get('access-control-allow-headers') ?? '', /X-API-Key/);
  }
});

test('a preflight allows the headers that it names', async (t) => {
  const { server } = await serve(t);
  const allowed = async (names: string) => {
    const { headers } = await fetch(`${server.url}/mcp`, {
      method: 'OPTIONS',
      headers: { Origin: 'https://a.example', 'Access-Control-Request-Headers': names },
    });
    assert.match(headers.get('vary') ?? '', /Access-Control-Request-Headers/);
    return headers.get('access-control-allow-headers');
  };
  for (const names of ['x-api-key,traceparent, sentry-trace', 'mcp-protocol-version', 'a'.repeat(1_024)]) {
    assert.equal(await allowed(names), names);
  }
  for (const names of ['', 'a b', 'a,,b', 'a:b', '"a"', 'a'.repeat(1_025)]) {
    assert.equal(await allowed(names), 'X-API-Key, Content-Type, If-None-Match, Authorization');
  }
});

test('only configured origins are allowed', async (t) => {
  const { fetch, index } = await serve(t, {
    settings: { cors_origins: ['https://a.example', 'https://b.example'] },
  });
  index.append([{}]);
  const allowed = await fetch(SUMMARY, { headers: { Origin: 'https://b.example' } });
  assert.equal(allowed.headers.get('access-control-allow-origin'), 'https://b.example');
  assert.equal(allowed.headers.get('vary'), 'Origin');
  for (const origin of ['https://c.example', '']) {
    const other = await fetch(SUMMARY, { headers: { Origin: origin } });
    assert.equal(other.headers.get('access-control-allow-origin'), null);
    assert.equal(other.headers.get('vary'), 'Origin');
  }
});

test('each answer reflects the newest commit', async (t) => {
  const { fetch, json, index } = await serve(t);
  for (let block = 1; block <= 5; block++) {
    index.append([{ [`tx ${block}`]: [{ from: 'bob', to: 'alice' }] }]);
    await nextTurn();
    const response = await fetch(SUMMARY);
    const body = await json(SUMMARY);
    assert.equal(response.headers.get('x-indexed-block'), String(block));
    assert.equal(body.txCount, block);
    assert.equal(body.lastSeenBlock, block);
  }
});

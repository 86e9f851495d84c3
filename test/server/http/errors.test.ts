import assert from 'node:assert/strict';
import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { z } from 'zod';
import { address } from '../../support/index/index-fixture.ts';
import { waitFor } from '../../support/wait.ts';
import { errorOf, type Serving, serve } from '../serving.ts';

const SUMMARY = `/api/wallet_summary?address=${address('alice')}`;
const BATCH = '/api/wallets/batch';
const RPC_ERROR = z.strictObject({
  jsonrpc: z.literal('2.0'),
  id: z.null(),
  error: z.object({ code: z.int(), message: z.string() }),
});

/** Writes raw bytes to the server and returns everything received until it closes, possibly with a reset. */
function exchange(serving: Serving, bytes: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(serving.server.port, '127.0.0.1', () => socket.write(bytes));
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk;
    });
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(text));
  });
}

test('before the first indexed block the API is not ready', async (t) => {
  const { fetch, post, index } = await serve(t);
  for (const response of [await fetch(SUMMARY), await post(BATCH, `{"addresses":["${address('alice')}"]}`)]) {
    assert.equal(response.status, 503);
    assert.notEqual(response.headers.get('ratelimit-limit'), null);
    assert.equal((await errorOf(response)).error.code, 'not_ready');
  }
  index.append([{}]);
  assert.equal((await fetch(SUMMARY)).status, 200);
});

test('unknown paths give 404, wrong methods 405', async (t) => {
  const { fetch, server, index } = await serve(t);
  index.append([{}]);
  const cases: [string, string, number, string, string | null][] = [
    ['GET', '/api/wallet_sumary', 404, 'not_found', null],
    ['GET', '/api/wallet_summary/', 404, 'not_found', null],
    ['GET', '/api/', 404, 'not_found', null],
    ['POST', '/api/wallet_summary', 405, 'method_not_allowed', 'GET, HEAD, OPTIONS'],
    ['DELETE', '/api/wallet_summary', 405, 'method_not_allowed', 'GET, HEAD, OPTIONS'],
    ['GET', BATCH, 405, 'method_not_allowed', 'POST, OPTIONS'],
    ['PUT', BATCH, 405, 'method_not_allowed', 'POST, OPTIONS'],
    ['GET', '/rpc', 405, 'method_not_allowed', 'POST, OPTIONS'],
  ];
  for (const [method, path, status, code, allow] of cases) {
    const response = await fetch(path, { method });
    assert.equal(response.status, status, `${method} ${path}`);
    assert.equal((await errorOf(response)).error.code, code);
    assert.equal(response.headers.get('allow'), allow);
    assert.notEqual(response.headers.get('ratelimit-remaining'), null);
  }
  const open = await globalThis.fetch(`${server.url}/nothing`);
  assert.equal(open.status, 404, 'outside the API no key is needed to learn that there is nothing');
  assert.equal((await globalThis.fetch(`${server.url}/healthz`, { method: 'POST' })).status, 405);
});

test('a REST body must have a JSON content type', async (t) => {
  const { post, index } = await serve(t);
  index.append([{}]);
  const body = `{"addresses":["${address('alice')}"]}`;
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/jsonp', '']) {
    const response = await post(BATCH, body, { 'Content-Type': type });
    assert.equal(response.status, 415, type);
    assert.equal((await errorOf(response)).error.code, 'unsupported_media_type');
  }
  for (const type of [
    'application/json',
    'application/json; charset=utf-8',
    'Application/JSON;charset=utf-8',
  ]) {
    assert.equal((await post(BATCH, body, { 'Content-Type': type })).status, 200, type);
  }
});

test('REST and /rpc refuse a body with Content-Encoding, compressed or not', async (t) => {
  const { post, index } = await serve(t);
  index.append([{}]);
  const body = `{"addresses":["${address('alice')}"]}`;
  const call = '{"jsonrpc":"2.0","id":1,"method":"no_method"}';
  for (const encoding of ['gzip', 'br', 'GZIP', 'identity, gzip']) {
    const headers = { 'Content-Encoding': encoding };
    const refused = await post(BATCH, gzipSync(body), headers);
    assert.equal(refused.status, 415, encoding);
    assert.equal((await errorOf(refused)).error.code, 'unsupported_media_type');
    const answer = await post('/rpc', gzipSync(call), headers);
    const { id, error } = (await answer.json()) as { id: unknown; error: { code: number; message: string } };
    assert.deepEqual([answer.status, id, error.code], [415, null, -32600]);
    assert.match(error.message, /without Content-Encoding/);
    assert.notEqual(answer.headers.get('ratelimit-remaining'), null);
  }
  for (const encoding of ['identity', 'Identity']) {
    assert.equal((await post(BATCH, body, { 'Content-Encoding': encoding })).status, 200);
    assert.equal((await post('/rpc', call, { 'Content-Encoding': encoding })).status, 200);
  }
});

test('a REST body over 64 KiB is refused, with or without Content-Length; 64 KiB is accepted', async (t) => {
  const serving = await serve(t);
  const { post, server, key, index } = serving;
  index.append([{}]);
  const fitting = `{"addresses":["${address('alice')}"]}`.padEnd(65_536);
  assert.equal((await post(BATCH, fitting)).status, 200);
  const announced = await post(BATCH, `${fitting} `);
  assert.equal(announced.status, 413);
  assert.equal((await errorOf(announced)).error.code, 'body_too_large');

  const status = await new Promise<number | undefined>((resolve, reject) => {
    const request = httpRequest(`${server.url}${BATCH}`, {
      method: 'POST',
      headers: { 'X-API-Key': key, 'Content-Type': 'application/json', 'Transfer-Encoding': 'chunked' },
    });
    request.on('response', (response) => {
      resolve(response.statusCode);
      response.resume();
    });
    request.on('error', reject);
    for (let i = 0; i < 9; i++) request.write(' '.repeat(8_192));
  });
  assert.equal(status, 413);
});

test('an RPC body over 2 MB is refused with a JSON-RPC error', async (t) => {
  const { post } = await serve(t);
  const response = await post('/rpc', ' '.repeat(2_000_001));
  assert.equal(response.status, 413);
  assert.notEqual(response.headers.get('ratelimit-limit'), null);
  assert.equal(RPC_ERROR.parse(await response.json()).error.code, -32600);
});

test('a client that disconnects in the middle of its body affects no other client', async (t) => {
  const serving = await serve(t);
  serving.index.append([{}]);
  for (const path of [BATCH, '/rpc']) {
    const socket = connect(serving.server.port, '127.0.0.1');
    socket.write(
      `POST ${path} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${serving.key}\r\nContent-Type: ` +
        'application/json\r\nContent-Length: 5000\r\n\r\n{"addr',
    );
    await waitFor(() => socket.bytesWritten > 0, { what: 'the half body to be sent' });
    socket.destroy();
  }
  assert.equal((await serving.fetch(SUMMARY)).status, 200);
  await serving.server.close();
  assert.ok(true, 'closing does not wait for them');
});

test('bytes that are not HTTP get a 400 or a closed connection', async (t) => {
  const serving = await serve(t);
  for (const bytes of [
    '\0\0\0\0\r\n\r\n',
    'GET / HTTP/9.9\r\n\r\n',
    `GET /${'a'.repeat(100_000)} HTTP/1.1\r\n\r\n`,
  ]) {
    assert.match(await exchange(serving, bytes), /^(HTTP\/1\.1 (400|431|505)|$)/);
  }
  assert.equal((await globalThis.fetch(`${serving.server.url}/healthz`)).status, 200);
});

test('a failed read is a 500 without details, is logged, and leaves the server up', async (t) => {
  const { fetch, post, index, logs } = await serve(t);
  index.append([{}, { a: [{ from: 'bob', to: 'alice' }] }]);
  // A damaged index: the transfer refers to a missing block.
  index.damage('DELETE FROM blocks WHERE number = 1; UPDATE wallets SET native_received = 7');
  const good = await fetch(`/api/wallet_summary?address=${address('nobody')}`);
  assert.equal(good.status, 200);
  index.damage('UPDATE transfers SET token_kind = 7');
  const broken = [await fetch(`/api/address_transfers?address=${address('alice')}&include_internal=true`)];
  for (const response of broken) {
    assert.equal(response.status, 500);
    assert.notEqual(response.headers.get('ratelimit-limit'), null);
    assert.deepEqual(await response.json(), {
      error: { code: 'internal', message: 'this part of the index cannot be read' },
    });
  }
  assert.ok(logs.some((line) => line.includes('unknown kind 7')));
  assert.equal((await post(BATCH, `{"addresses":["${address('nobody')}"]}`)).status, 200);
});

/** What `/mcp` answers to messages that no client of the protocol sends. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { serve } from '../serving.ts';

test('a batch within a batch is one invalid message, however deep', async (t) => {
  const serving = await serve(t);
  const post = (body: string) =>
    serving.post('/mcp', body, { accept: 'application/json, text/event-stream' });
  for (const depth of [2, 3_000, 30_000]) {
    const answer = await post('['.repeat(depth) + ']'.repeat(depth));
    assert.equal(answer.status, 400);
    assert.match(await answer.text(), /-32600/);
  }
  for (const params of ['null', '{"cursor":null,"_meta":null}']) {
    const listed = await post(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":${params}}`);
    assert.match(await listed.text(), /wallet_summary/, 'what a client leaves out may be null');
  }
  const { key } = serving.access.keys.create({ name: 'free', tier: 'free' });
  const body = `[[${'{},'.repeat(50)}{}]]`;
  const headers = { 'content-type': 'application/json', 'x-api-key': key };
  const nested = await fetch(`${serving.server.url}/mcp`, { method: 'POST', body, headers });
  assert.equal(nested.headers.get('ratelimit-remaining'), '4', 'it costs one request');
});

test('params that do not fit a method are invalid params, named in one line', async (t) => {
  const serving = await serve(t);
  const ask = async (method: string, params: unknown) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
    const answer = await serving.post('/mcp', body, { accept: 'application/json, text/event-stream' });
    return JSON.parse(await answer.text()).error;
  };
  const hello = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'a', version: '1' } };
  const { clientInfo, ...anonymous } = hello;
  for (const [method, params, message] of [
    ['initialize', { ...anonymous, clientinfo: clientInfo }, /^params\.clientInfo: .*expected object/],
    ['initialize', { ...hello, protocolVersion: 5 }, /^params\.protocolVersion: .*expected string/],
    ['initialize', { ...hello, capabilities: { roots: 'x' } }, /^params\.capabilities\.roots: /],
    ['initialize', undefined, /^params: /],
    ['tools/list', { cursor: 5 }, /^params\.cursor: /],
    ['tools/call', { name: 5 }, /^params\.name: /],
    ['tools/call', { name: 'wallet_summary', arguments: 'x' }, /^params\.arguments: /],
    ['tools/call', { name: 'no_such' }, /^there is no tool no_such$/],
    ['resources/read', {}, /^params\.uri: /],
    ['resources/read', { uri: 'atlas://x' }, /^there is no resource/],
  ] as const) {
    const { code, message: told } = await ask(method, params);
    assert.equal(code, -32602, `${method} ${JSON.stringify(params)}: ${told}`);
    assert.match(told, message);
    assert.doesNotMatch(told, /\n/);
  }
  assert.equal((await ask('prompts/list', {})).code, -32601);
});

test('a request that the same batch cancels is answered all the same', async (t) => {
  const serving = await serve(t);
  const batch = [
    { jsonrpc: '2.0', id: 1, method: 'ping' },
    { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } },
  ];
  const headers = { accept: 'application/json, text/event-stream' };
  const answer = await serving.post('/mcp', JSON.stringify(batch), headers);
  assert.deepEqual(await answer.json(), { jsonrpc: '2.0', id: 1, result: {} });
});

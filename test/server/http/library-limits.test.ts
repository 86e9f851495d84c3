/**
 * What the HTTP library does before our code runs, as described in docs/security.md. An improved library fails this
 * test.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { type TestContext, test } from 'node:test';
import { address } from '../../support/index/index-fixture.ts';
import { waitFor } from '../../support/wait.ts';
import { serve } from '../serving.ts';

const GET = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;

/** A connection that has sent these bytes. */
function exchange(t: TestContext, port: number, bytes: string) {
  const socket = connect(port, '127.0.0.1', () => socket.write(bytes));
  t.after(() => socket.destroy());
  const state = { socket, text: '', closed: false };
  socket.on('data', (chunk) => {
    state.text += chunk;
  });
  socket.on('close', () => {
    state.closed = true;
  });
  return state;
}

test('a request of HTTP/1.0 or in absolute form gets a 505, and the connection closes', async (t) => {
  const { server } = await serve(t);
  for (const line of [
    'GET /healthz HTTP/1.0',
    'GET /readyz HTTP/1.0',
    'GET http://127.0.0.1/healthz HTTP/1.1',
    'GET https://127.0.0.1/healthz HTTP/1.1',
  ]) {
    const probe = exchange(t, server.port, `${line}\r\nHost: x\r\n\r\n`);
    await waitFor(() => probe.closed, { what: `the end of the connection of ${line}` });
    assert.match(probe.text, /^HTTP\/1\.1 505 /, line);
  }
});

test('lines of a chunked body may end with LF alone', async (t) => {
  const { server, key, index } = await serve(t);
  index.append([{}]);
  const body = `{"addresses":["${address('alice')}"]}`;
  const size = body.length.toString(16);
  const post = (chunks: string) =>
    'POST /api/wallets/batch HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n' +
    `X-API-Key: ${key}\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}`;
  const lines = exchange(t, server.port, post(`${size}\n${body}\r\n0\n\r\n`));
  await waitFor(() => lines.text.startsWith('HTTP/1.1 200 '), {
    what: 'an answer to lines that end with LF',
  });
});

test('the library answers unannounced trailers and long chunk extensions with pages of its own', async (t) => {
  const { server, key } = await serve(t);
  const post = (chunks: string) =>
    `POST /rpc HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}`;
  for (const [chunks, status] of [
    ['5\r\nhello\r\n0\r\nX-Sum: 1\r\n\r\n', 505],
    ['5;name=value-of-the-extension\r\nhello\r\n0\r\n\r\n', 400],
  ] as const) {
    const state = exchange(t, server.port, post(chunks));
    await waitFor(() => state.closed, { what: 'the end of the connection' });
    assert.match(state.text, new RegExp(`^HTTP/1\\.1 ${status} .*<h1>`, 's'));
  }
});

test('pipelined GETs are answered in order, and the connection stays open', async (t) => {
  const { server } = await serve(t);
  const paths = ['/healthz', '/nothing', '/readyz', '/healthz'];
  const pipelined = exchange(t, server.port, paths.map(GET).join(''));
  const statuses = () => [...pipelined.text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status);
  await waitFor(() => statuses().length === paths.length, { what: 'four answers' });
  assert.deepEqual(statuses(), ['200', '404', '503', '200']);
  pipelined.socket.write(GET('/healthz'));
  await waitFor(() => statuses().length === paths.length + 1, { what: 'an answer on the same connection' });
});

test('a POST sent before the answer of the node to an earlier one closes the connection', async (t) => {
  const node = createServer((_, response) => {
    setImmediate(() => response.end('{"jsonrpc":"2.0","id":1,"result":"0x1"}'));
  });
  await once(node.listen(0, '127.0.0.1'), 'listening');
  t.after(() => node.close());
  const { port } = node.address() as AddressInfo;
  const { server, key, index } = await serve(t, { upstream: `http://127.0.0.1:${port}` });
  index.append([{}]);
  const post = (path: string, body: string) =>
    `POST ${path} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\nContent-Type: ` +
    `application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  const call = (id: number) =>
    post('/rpc', `{"jsonrpc":"2.0","id":${id},"method":"eth_gasPrice","params":[]}`);

  const sequential = exchange(t, server.port, call(11));
  for (let id = 11; id <= 13; id++) {
    await waitFor(() => sequential.text.includes(`"id":${id}`), { what: `answer ${id}` });
    sequential.socket.write(call(id + 1));
  }
  const pipelined = exchange(t, server.port, call(1) + call(2));
  await waitFor(() => pipelined.closed, { what: 'the end of the connection' });
  assert.equal(pipelined.text, '');

  // The index is read in the turn in which the request arrives, so nothing is pending when the next request is parsed.
  const wallets = [address('alice'), address('bob')];
  const batches = wallets.map((wallet) => post('/api/wallets/batch', `{"addresses":["${wallet}"]}`));
  const read = exchange(t, server.port, batches.join(''));
  await waitFor(() => wallets.every((wallet) => read.text.includes(wallet)), { what: 'both answers' });
  assert.ok(read.text.indexOf(address('alice')) < read.text.indexOf(address('bob')));
  assert.equal(read.closed, false);
});

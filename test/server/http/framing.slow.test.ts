/** Answers to requests with ambiguous body framing, byte for byte on a socket. */
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { test } from 'node:test';
import { address } from '../../support/index/index-fixture.ts';
import { waitFor } from '../../support/wait.ts';
import { type Serving, serve } from '../serving.ts';

const SMUGGLED = 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n';

/** Everything that the server sends until it closes the connection. */
function untilClosed({ server }: Serving, bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(server.port, '127.0.0.1', () => socket.write(bytes));
    let text = '';
    socket.setTimeout(20_000, () => reject(new Error(`still open after ${JSON.stringify(text)}`)));
    socket.on('data', (chunk) => {
      text += chunk;
    });
    socket.on('error', reject);
    socket.on('close', () => {
      socket.destroy();
      resolve(text);
    });
  });
}

test('a request with ambiguous framing is refused, and nothing after it is read', async (t) => {
  const serving = await serve(t);
  serving.index.append([{}]);
  const body = '{"jsonrpc":"2.0","id":1,"method":"net_version"}';
  const framings = [
    `Content-Length: ${body.length}\r\nContent-Length: ${body.length + SMUGGLED.length}\r\n`,
    `content-length: ${body.length}\r\nCONTENT-LENGTH:   ${body.length + 1}\r\n`,
    `Content-Length: ${body.length}\r\nContent-Length: ${body.length}\r\n`,
    `Content-Length: ${body.length}, ${body.length}\r\n`,
    'Content-Length: \r\n',
    `Content-Length: +${body.length}\r\n`,
    `Content-Length: ${body.length}\r\nTransfer-Encoding: chunked\r\n`,
    `transfer-encoding:chunked\r\ncontent-length:${body.length}\r\n`,
    'Transfer-Encoding: chunked, identity\r\n',
    'Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n',
    'Transfer-Encoding: xchunked\r\n',
    'Transfer-Encoding: identity\r\n',
  ];
  const head = `Host: x\r\nX-API-Key: ${serving.key}\r\nContent-Type: application/json\r\n`;
  for (const path of ['/rpc', '/api/wallets/batch', '/nothing']) {
    for (const framing of path === '/rpc' ? framings : framings.slice(0, 5)) {
      const chunked = /transfer/i.test(framing)
        ? `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`
        : body;
      const answer = await untilClosed(
        serving,
        `POST ${path} HTTP/1.1\r\n${head}${framing}\r\n${chunked}${SMUGGLED}`,
      );
      // With more data behind it, the connection may close before the refusal is written.
      assert.match(answer, /^(HTTP\/1\.1 400 (?!.*HTTP\/1)|$)/s, `${path} ${framing}`);
      const alone = await untilClosed(serving, `POST ${path} HTTP/1.1\r\n${head}${framing}\r\n`);
      assert.match(alone, /^HTTP\/1\.1 400 /, `${path} ${framing} alone`);
    }
  }
});

/** The only answer in these bytes: its status, its type, and its JSON. */
function onlyAnswer(bytes: string) {
  const [head = '', ...bodies] = bytes.split('\r\n\r\n');
  assert.equal(bodies.length, 1, bytes.slice(0, 1_000));
  return {
    status: Number(head.split(' ')[1]),
    type: /^content-type: (.*)$/im.exec(head)?.[1],
    json: JSON.parse(bodies[0] ?? ''),
  };
}

/** A chunked POST. */
const chunkedPost = ({ key }: Serving, path: string, headers: string, chunks: string) =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\nContent-Type: application/json\r\n` +
  `${headers}Transfer-Encoding: chunked\r\n\r\n${chunks}`;

const errorOn = (path: string, message: string) =>
  path === '/rpc'
    ? { jsonrpc: '2.0', id: null, error: { code: -32600, message } }
    : { error: { code: 'invalid_body', message } };

const CALL = '{"jsonrpc":"2.0","id":1,"method":"net_version"}';
const SIZE = CALL.length.toString(16);

test('announced trailers are refused in JSON, and nothing after them is read', async (t) => {
  const serving = await serve(t);
  serving.index.append([{}]);
  const message = 'trailers are not supported; send the request without them';
  for (const path of ['/rpc', '/api/wallets/batch', '/mcp', '/nothing']) {
    for (const trailers of ['X-Sum: 1\r\n\r\n', `X:${SMUGGLED}`, `X-Sum: 1\r\n\r\n${SMUGGLED}`]) {
      const request = chunkedPost(
        serving,
        path,
        'Trailer: X-Sum\r\n',
        `${SIZE}\r\n${CALL}\r\n0\r\n${trailers}`,
      );
      const { status, type, json } = onlyAnswer(await untilClosed(serving, request));
      assert.deepEqual([status, type, json], [400, 'application/json', errorOn(path, message)]);
    }
  }
});

test('a chunk extension is refused in JSON', async (t) => {
  const serving = await serve(t);
  serving.index.append([{}]);
  const message = 'chunk extensions are not supported';
  for (const path of ['/rpc', '/api/wallets/batch', '/mcp']) {
    const request = chunkedPost(serving, path, '', `${SIZE};a=b\r\n${CALL}\r\n0\r\n\r\n`);
    const { status, type, json } = onlyAnswer(await untilClosed(serving, request));
    assert.deepEqual([status, type, json], [400, 'application/json', errorOn(path, message)]);
  }
});

test('a body that does not end is answered before the library closes the connection', async (t) => {
  const serving = await serve(t);
  serving.index.append([{}]);
  const message = 'nothing of the body arrived for 7 s; chunk extensions are not supported';
  const incomplete: [path: string, chunks: string][] = [
    ['/rpc', `${SIZE}\r\n${CALL}\r\n0;a=b\r\n\r\n`],
    ['/api/wallets/batch', `${SIZE}\r\n${CALL}\r\n`],
    ['/mcp', `${SIZE};a=b\r\n${CALL.slice(0, 5)}\r\n10;c=d\r\n`],
  ];
  await Promise.all(
    incomplete.map(async ([path, chunks]) => {
      const { status, json } = onlyAnswer(await untilClosed(serving, chunkedPost(serving, path, '', chunks)));
      assert.deepEqual([status, json], [408, errorOn(path, message)]);
    }),
  );
});

test('a body whose bytes look like a chunk extension is read to its end', async (t) => {
  const serving = await serve(t);
  serving.index.append([{}]);
  const text = `{"jsonrpc":"2.0","id":1,"method":"nothing","params":[\r\n0\r\n\r\n]}`;
  const at = text.indexOf(']');
  const socket = connect(serving.server.port, '127.0.0.1');
  t.after(() => socket.destroy());
  let answer = '';
  socket.on('data', (chunk) => {
    answer += chunk;
  });
  const chunk = (part: string) => `${part.length.toString(16)}\r\n${part}\r\n`;
  const end = (part: string) => chunkedPost(serving, '/rpc', '', part);
  socket.write(end(`${text.length.toString(16)}\r\n${text.slice(0, at)}`));
  await serving.fetch('/healthz'); // the first part has been read by then
  socket.write(`${text.slice(at)}\r\n${chunk('').slice(0, 3)}\r\n`);
  await waitFor(() => answer.includes('-32601'), { what: 'an answer to the call' });
});

test('a GET with two Content-Lengths or an empty one is refused, with one it is served', async (t) => {
  const serving = await serve(t);
  serving.index.append([{}]);
  const get = (framing: string) =>
    `GET /api/wallet_summary?address=${address('alice')} HTTP/1.1\r\nHost: x\r\nX-API-Key: ` +
    `${serving.key}\r\n${framing}\r\n`;
  for (const framing of [
    'Content-Length: 0\r\nContent-Length: 5\r\n',
    'Content-Length: \r\nContent-Length: 5\r\n',
    'Content-Length: \r\n',
    'Transfer-Encoding: \r\n',
  ]) {
    assert.match(await untilClosed(serving, get(framing)), /^HTTP\/1\.1 400 /, framing);
    const answer = await untilClosed(serving, `${get(framing)}${SMUGGLED}`);
    assert.match(answer, /^(HTTP\/1\.1 400 (?!.*HTTP\/1)|$)/s, framing);
  }
  const plain = await serving.fetch(`/api/wallet_summary?address=${address('alice')}`);
  assert.equal(plain.status, 200);
  const socket = connect(serving.server.port, '127.0.0.1', () => socket.write(get('Content-Length: 0\r\n')));
  t.after(() => socket.destroy());
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk;
  });
  await waitFor(() => text.startsWith('HTTP/1.1 200 '), {
    what: 'an answer to a GET with Content-Length: 0',
  });
});

test('a key revoked while its body arrives is refused', async (t) => {
  const serving = await serve(t);
  serving.index.append([{}]);
  for (const path of ['/rpc', '/api/wallets/batch']) {
    const { key, record } = serving.access.keys.create({ name: 'late', tier: 'unlimited' });
    const body = '{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}';
    const socket = connect(serving.server.port, '127.0.0.1');
    t.after(() => socket.destroy());
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk;
    });
    socket.write(
      `POST ${path} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\nContent-Type: application/json\r\n` +
        `Content-Length: ${body.length}\r\n\r\n${body.slice(0, 5)}`,
    );
    // A request on another connection that is answered later: the head before it has been read by then.
    await serving.fetch('/healthz');
    serving.access.keys.revoke(record.id);
    socket.write(body.slice(5));
    await waitFor(() => text.startsWith('HTTP/1.1 401 '), { what: `a 401 from ${path}` });
  }
});

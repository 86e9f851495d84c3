// Own process: its bounds are on the memory of the whole process.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { StreamingHttpClient } from '../../../src/node/http/streaming-client.ts';
import { type Serving, serve } from '../../server/serving.ts';
import { waitFor } from '../../support/wait.ts';
import { type CallResult, startNode } from '../node.ts';

const MB = 2 ** 20;
setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');
const CALL = '{"jsonrpc":"2.0","id":"é","method":"debug_traceCall","params":[]}';

async function serveNode(t: TestContext, answer: CallResult): Promise<Serving> {
  const node = await startNode(t, answer);
  return serve(t, { upstream: node.url });
}

/** Bytes of all buffers in this process: of client, gateway and node. Excludes garbage. */
function bytesInUse(): number {
  collectGarbage();
  return process.memoryUsage().external;
}

/** Sends one call over a raw connection, so that the test controls reading. */
async function open(t: TestContext, { server, key }: Serving, body = CALL): Promise<Socket> {
  const { hostname, port } = new URL(server.url);
  const socket = connect(Number(port), hostname);
  t.after(() => socket.destroy());
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  const length = Buffer.byteLength(body);
  socket.write(
    `POST /rpc HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\nContent-Length: ${length}\r\nConnection: ` +
      `close\r\n\r\n${body}`,
  );
  return socket;
}

/** Writes pieces of a hex result as fast as they are accepted; `written` counts the accepted bytes. */
function flood(response: ServerResponse, bytes: number): { written: number; closed: boolean } {
  const state = { written: 0, closed: false };
  const piece = Buffer.alloc(64 * 1024, 'ab');
  const pump = () => {
    while (state.written < bytes && !state.closed) {
      state.written += piece.length;
      if (!response.write(piece)) return;
    }
    if (!state.closed) response.end('"}');
  };
  response.on('close', () => {
    state.closed = true;
  });
  response.on('drain', pump);
  response.write('{"jsonrpc":"2.0","id":1,"result":"0x');
  pump();
  return state;
}

test('a long answer is streamed while it arrives', async (t) => {
  let finish: (() => void) | undefined;
  const serving = await serveNode(t, (_, response) => {
    response.write(`{"jsonrpc":"2.0","id":1,"result":"0x${'ab'.repeat(500_000)}`);
    finish = () => response.end('cd"}');
  });
  const response = await serving.post('/rpc', CALL);
  assert.equal(response.status, 200);
  let received = '';
  for await (const piece of response.body ?? []) {
    received += Buffer.from(piece).toString('latin1');
    if (received.length < 900_000) continue;
    finish?.();
    finish = undefined;
  }
  assert.equal(
    Buffer.from(received, 'latin1').toString(),
    `{"jsonrpc":"2.0","id":"é","result":"0x${'ab'.repeat(500_000)}cd"}`,
  );
});

test('a client that does not read pauses the node, and gets everything once it reads', async (t) => {
  let sent: { written: number; closed: boolean } | undefined;
  const total = 96 * MB;
  const serving = await serveNode(t, (_, response) => {
    sent = flood(response, total);
  });
  const socket = await open(t, serving);
  socket.pause();
  await waitFor(() => (sent?.written ?? 0) > MB, { what: 'the answer to begin' });
  // The node has paused when it has written nothing for a while.
  let last = -1;
  await waitFor(
    () => {
      const now = sent?.written ?? 0;
      const stopped = now === last;
      last = now;
      return stopped;
    },
    { what: 'the node to be stopped', everyMs: 200 },
  );
  assert.ok(last < 32 * MB, `the node could send ${Math.round(last / MB)} MB to a client that reads nothing`);
  let bytes = 0;
  socket.on('data', (data) => {
    bytes += data.length;
  });
  socket.resume();
  await once(socket, 'close');
  assert.ok(bytes > total, `${bytes} bytes came`);
});

test('a connection whose answer was paused when its last piece came serves the next request', async (t) => {
  const node = await startNode(t, (_, response) => {
    // Both chunks and the end arrive at once.
    response.write('ab');
    response.end('cd');
  });
  const transport = new StreamingHttpClient({
    url: node.url,
    timeoutMs: 1_000,
    maxSockets: 1,
    maxWaiting: 1,
    maxWaitingBytes: MB,
  });
  t.after(() => transport.close());
  const ask = () =>
    new Promise<string>((resolve, reject) => {
      let text = '';
      transport.post('{}', 'a call', {
        begin() {},
        write(piece) {
          text += piece.toString();
          return false;
        },
        end: (last) => resolve(text + last.toString()),
        abort: reject,
      });
    });
  assert.equal(await ask(), 'abcd');
  assert.equal(await ask(), 'abcd');
});

test('streaming an answer of any size takes constant memory', async (t) => {
  const total = 256 * MB;
  const serving = await serveNode(t, (_, response) => flood(response, total));
  const before = bytesInUse();
  const socket = await open(t, serving);
  let bytes = 0;
  let looks = 0;
  let most = 0;
  socket.on('data', (data) => {
    bytes += data.length;
    if (bytes < looks * 16 * MB) return;
    looks++;
    most = Math.max(most, bytesInUse() - before);
  });
  await once(socket, 'close');
  assert.ok(bytes > total && looks > 16);
  assert.ok(most < 32 * MB, `${Math.round(most / MB)} MB`);
});

test('a client that leaves midway aborts the answer of the node', async (t) => {
  let sent: { written: number; closed: boolean } | undefined;
  const serving = await serveNode(t, (_, response) => {
    sent = flood(response, 1024 * MB);
  });
  const socket = await open(t, serving);
  await once(socket, 'data');
  socket.destroy();
  await waitFor(() => sent?.closed, { what: 'the connection to the node to be closed' });
  assert.equal((await serving.fetch('/healthz')).status, 200);
});

test('a truncated answer is not passed off as complete', async (t) => {
  const serving = await serveNode(t, (_, response) => {
    response.write(`{"jsonrpc":"2.0","id":1,"result":"0x${'ab'.repeat(MB)}`, () =>
      response.socket?.destroy(),
    );
  });
  await assert.rejects(
    serving.post('/rpc', CALL).then((response) => response.text()),
    /terminated/,
  );
});

test('an answer that does not end like JSON is not passed off as complete', async (t) => {
  for (const [begin, end] of [
    ['{"jsonrpc":"2.0","id":1,"result":"0x', '"'],
    ['{"jsonrpc":"2.0","result":"0x', '"}'],
  ] as const) {
    const serving = await serveNode(t, (_, response) => {
      response.write(begin);
      response.write('ab'.repeat(MB));
      response.end(end);
    });
    await assert.rejects(
      serving.post('/rpc', CALL).then((response) => response.text()),
      /terminated/,
      end,
    );
  }
});

test('a long answer with its envelope behind it, whole or in part, is passed on byte for byte', async (t) => {
  const result = `"0x${'ab'.repeat(MB)}"`;
  for (const text of [
    `{"result":${result},"id":1,"jsonrpc":"2.0"}`,
    `{"result":${result},"jsonrpc":"2.0","id":1}`,
    `{"id":1,"result":${result},"jsonrpc":"2.0"}`,
    `{"id":1,"result":${result}}`,
  ]) {
    const serving = await serveNode(t, (_, response) => response.end(text));
    const answer = await (await serving.post('/rpc', CALL)).text();
    assert.ok(
      answer === `{"jsonrpc":"2.0","id":"é","result":${result}}`,
      `${answer.slice(0, 40)} ... ${answer.slice(-40)}`,
    );
  }
});

test('a range refused in several pieces is split', async (t) => {
  const serving = await serveNode(t, (body, response) => {
    if (body.startsWith('[')) {
      return response.end('{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"no batches"}}');
    }
    const { method, params } = JSON.parse(body);
    if (method === 'eth_blockNumber') return response.end('{"jsonrpc":"2.0","id":1,"result":"0x3"}');
    if (method === 'eth_getBlockByNumber') {
      const hash = `0x${'ab'.repeat(32)}`;
      const block = { number: params[0], hash, parentHash: hash };
      return response.end(JSON.stringify({ jsonrpc: '2.0', id: 1, result: block }));
    }
    const [{ fromBlock, toBlock }] = params;
    const isOne = fromBlock === toBlock || (fromBlock === '0x3' && toBlock === 'latest');
    if (isOne) return response.end(`{"jsonrpc":"2.0","id":1,"result":["${fromBlock}"]}`);
    response.write('{"jsonrpc":"2.0","id":1,"error":{"code":-32602,');
    setTimeout(() => response.end('"message":"block range too large"}}'), 20);
  });
  const params = [{ fromBlock: '0x1', toBlock: 'latest' }];
  const answer = await fetch(`${serving.server.url}/rpc`, {
    method: 'POST',
    headers: { 'X-API-Key': serving.key },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_getLogs', params }),
  });
  assert.deepEqual(await answer.json(), { jsonrpc: '2.0', id: 1, result: ['0x1', '0x2', '0x3'] });
});

test('a long answer to another call is not passed off as one', async (t) => {
  const result = `"0x${'ab'.repeat(MB)}"`;
  for (const text of [
    `{"result":${result},"id":2,"jsonrpc":"2.0"}`,
    `{"result":${result},"jsonrpc":"2.0"}`,
  ]) {
    const serving = await serveNode(t, (_, response) => response.end(text));
    await assert.rejects(
      serving.post('/rpc', CALL).then((response) => response.text()),
      /terminated/,
    );
  }
  const serving = await serveNode(t, (_, response) =>
    response.end(`{"jsonrpc":"2.0","id":2,"result":${result}}`),
  );
  assert.equal((await serving.post('/rpc', CALL)).status, 502);
});

test('a long answer with the id behind it, in pieces of any size, is passed on byte for byte', async (t) => {
  const result = `"0x${'ab'.repeat(50_000)}"`;
  const text = `{"jsonrpc":"2.0","result":${result},"id":1}`;
  for (const size of [1, 7, 127, 128, 129, 65_536, text.length - 3]) {
    const serving = await serveNode(t, async (_, response) => {
      const head = size < 100 ? text.length - 50 * size : 0;
      response.write(text.slice(0, head));
      for (let at = head; at < text.length; at += size) {
        // Each piece separately; otherwise the reader would see them as one.
        await new Promise((resolve) =>
          response.write(text.slice(at, at + size), () => setImmediate(resolve)),
        );
      }
      response.end();
    });
    const answer = await (await serving.post('/rpc', CALL)).text();
    assert.equal(answer, `{"jsonrpc":"2.0","id":"é","result":${result}}`, `pieces of ${size}`);
  }
});

test('25 MB for each of six clients at once, some of them slow', async (t) => {
  const total = 25 * MB;
  const serving = await serveNode(t, (_, response) => flood(response, total));
  const sockets = await Promise.all(
    Array.from({ length: 6 }, (_, i) => open(t, serving, CALL.replace('[]', `[${i}]`))),
  );
  const received = await Promise.all(
    sockets.map(async (socket, i) => {
      let bytes = 0;
      let end = '';
      socket.on('data', (data) => {
        bytes += data.length;
        end = (end + data.toString('latin1')).slice(-200);
        if (i % 3 !== 0) return;
        socket.pause();
        setImmediate(() => socket.resume());
      });
      await once(socket, 'close');
      return { bytes, end };
    }),
  );
  for (const { bytes, end } of received) assert.ok(bytes > total, `${bytes} bytes, the last: ${end}`);
});

/** Takes as long as the library waits for a client, so it has its own file, which runs beside others. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { App, us_listen_socket_close, us_socket_local_port } from '../../../src/server/uws.ts';
import { serve } from '../../server/serving.ts';
import { startNode } from '../node.ts';

const BODY = 24 * 2 ** 20;
const CALL = '{"jsonrpc":"2.0","id":1,"method":"debug_traceCall","params":[]}';

/** A connection whose client reads the first bytes of the answer, then nothing. */
async function openAndPause(t: TestContext, port: number, head: string, body: string): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  t.after(() => socket.destroy());
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  socket.write(`${head}\r\nHost: x\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`);
  await once(socket, 'data');
  socket.pause();
  return socket;
}

/** A server without our countermeasures. `cut` resolves when the library drops its client. */
function startBareServer(t: TestContext): { port: number; cut: Promise<void> } {
  const { promise: cut, resolve } = Promise.withResolvers<void>();
  const app = App().post('/', (res) => {
    res.onAborted(resolve);
    res.cork(() => res.write(Buffer.alloc(BODY)));
  });
  let port = 0;
  app.listen('127.0.0.1', 0, 0, (listening) => {
    if (listening === false) throw new Error('cannot listen');
    port = us_socket_local_port(listening);
    t.after(() => us_listen_socket_close(listening));
  });
  return { port, cut };
}

test('a client that does not read stays connected longer than the library allows by default', async (t) => {
  const node = await startNode(t, (_, response) => {
    response.end(`{"jsonrpc":"2.0","id":1,"result":"0x${'ab'.repeat(BODY / 2)}"}`);
  });
  const { server, key } = await serve(t, { upstream: node.url });
  const port = Number(new URL(server.url).port);
  const kept = await openAndPause(t, port, `POST /rpc HTTP/1.1\r\nX-API-Key: ${key}`, CALL);
  // The library advances the timers of all clients in the same steps, so it would close the earlier one first.
  const bare = startBareServer(t);
  await openAndPause(t, bare.port, 'POST / HTTP/1.1', '');
  await bare.cut;
  let end = '';
  kept.on('data', (data) => {
    end = (end + data.toString('latin1')).slice(-10);
  });
  kept.resume();
  await once(kept, 'close');
  assert.ok(end.endsWith('"}\r\n0\r\n\r\n'), end);
});

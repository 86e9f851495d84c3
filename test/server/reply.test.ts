import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { createLogger } from '../../src/log.ts';
import { listen } from '../../src/server/listen.ts';
import { ReplyWriter } from '../../src/server/reply.ts';
import { App, us_listen_socket_close, us_socket_local_port } from '../../src/server/uws.ts';
import { waitFor } from '../support/wait.ts';

/** More than the system keeps for a connection. */
const BODY = Buffer.alloc(40_000_000, 'abcdefghij');
const REQUEST = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';

/** A server that answers with a body at once, and a client that has asked and does not read. */
async function unread(t: TestContext, body = BODY, onAnswered = () => {}) {
  const replies = new ReplyWriter(createLogger({ level: 'error', format: 'json', write: () => undefined }));
  const app = App();
  let asked = 0;
  app.get('/', (res) => {
    asked++;
    replies.sendNow(res, () => ({ status: 200, headers: '', body, cache: 'no-store' }));
    onAnswered();
  });
  const listenSocket = await listen(app, '127.0.0.1', 0);
  t.after(() => {
    us_listen_socket_close(listenSocket);
    app.close();
  });
  const client = connect(us_socket_local_port(listenSocket), '127.0.0.1');
  t.after(() => void client.destroy());
  client.on('error', () => undefined).pause();
  client.write(REQUEST);
  await waitFor(() => asked === 1, { what: 'the request' });
  return { replies, client, asked: () => asked };
}

async function readBody(client: Socket): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  client.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    bytes += chunk.length;
  });
  client.resume();
  await waitFor(() => bytes >= BODY.length, { what: 'the body' });
  await waitFor(() => Buffer.concat(chunks).subarray(-BODY.length).equals(BODY), {
    what: 'the end of the body',
  });
  const all = Buffer.concat(chunks);
  return all.subarray(all.indexOf('\r\n\r\n') + 4);
}

test('a client that reads late gets the whole answer, and closing waits for it', async (t) => {
  const { replies, client } = await unread(t);
  let drained = false;
  const draining = replies.drain(60_000).then(() => {
    drained = true;
  });
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(drained, false, 'the answer is still owed');
  assert.ok((await readBody(client)).equals(BODY));
  await draining;
});

test('another request before the answer is taken ends the connection', async (t) => {
  const { replies, client, asked } = await unread(t);
  const closed = once(client, 'close');
  client.write(REQUEST.repeat(10));
  client.resume();
  await closed;
  assert.equal(asked(), 1);
  await replies.drain(60_000);
});

test('what a client has not taken stays as it was when the memory of the answer is used again', async (t) => {
  const shared = Buffer.from(BODY);
  const { client } = await unread(t, shared, () => shared.fill('x'));
  assert.ok((await readBody(client)).equals(BODY));
});

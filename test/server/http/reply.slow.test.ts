import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { LargeAnswer } from '../../../src/gateway/large-answer.ts';
import { ByteBudget } from '../../../src/lib/byte-budget.ts';
import { createLogger } from '../../../src/log/logger.ts';
import { listen } from '../../../src/server/http/listener.ts';
import { ReplyWriter } from '../../../src/server/http/reply.ts';
import { App, us_listen_socket_close, us_socket_local_port } from '../../../src/server/uws.ts';
import { waitFor } from '../../support/wait.ts';

/** More than the system buffers per connection. */
const BODY = Buffer.alloc(40_000_000, 'abcdefghij');
const REQUEST = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';

/** A server that answers with a body at once, and a client that has sent a request and does not read. */
async function unread(t: TestContext, body = BODY, onAnswered = () => {}, large?: LargeAnswer) {
  const replies = new ReplyWriter(createLogger({ level: 'error', format: 'json', write: () => undefined }));
  const app = App();
  let asked = 0;
  app.get('/', (res) => {
    asked++;
    const head = { status: 200, headers: '', cache: 'no-store' } as const;
    if (large === undefined) replies.sendNow(res, () => ({ ...head, body }));
    else
      replies
        .defer(
          res,
          () => undefined,
          () => undefined,
        )
        .sendLarge(head, large);
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

test('another request before the answer is read closes the connection', async (t) => {
  const { replies, client, asked } = await unread(t);
  const closed = once(client, 'close');
  client.write(REQUEST.repeat(10));
  client.resume();
  await closed;
  assert.equal(asked(), 1);
  await replies.drain(60_000);
});

test('unsent bytes survive the reuse of the memory of the answer', async (t) => {
  const shared = Buffer.from(BODY);
  const { client } = await unread(t, shared, () => shared.fill('x'));
  assert.ok((await readBody(client)).equals(BODY));
});

/** The body as a large answer, and whether its memory has come back. */
function largeBody() {
  const budget = new ByteBudget(2 * BODY.length).forClient(1);
  const large = LargeAnswer.of([BODY], budget);
  assert.ok(large !== null);
  const isFree = () => {
    const fits = budget.reserve(BODY.length);
    if (fits) budget.release(BODY.length);
    return fits;
  };
  assert.equal(isFree(), false);
  return { large, isFree };
}

test('a large answer goes out one chunk per turn of the event loop', async (t) => {
  let turn = 0;
  let running = true;
  const count = () => {
    turn++;
    if (running) setImmediate(count);
  };
  setImmediate(count);
  t.after(() => {
    running = false;
  });
  const turns: number[] = [];
  const { large, isFree } = largeBody();
  const peek = large.peek.bind(large);
  large.peek = () => {
    turns.push(turn);
    return peek();
  };
  const { client, replies } = await unread(t, BODY, () => undefined, large);
  assert.ok((await readBody(client)).equals(BODY));
  await replies.drain(60_000);
  assert.ok(isFree());
  assert.ok(turns.length >= BODY.length / (256 * 1024));
  assert.equal(new Set(turns).size, turns.length, 'two chunks were written in one turn');
});

test('a large answer is discarded when the client leaves', async (t) => {
  const { large, isFree } = largeBody();
  const { client, replies } = await unread(t, BODY, () => undefined, large);
  client.destroy();
  await waitFor(isFree, { what: 'the memory of the answer' });
  await replies.drain(60_000);
});

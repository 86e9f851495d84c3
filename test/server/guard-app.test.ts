/** Errors in callbacks of uWebSockets.js are answered and counted, and the server goes on. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { afterEach, beforeEach, type TestContext, test } from 'node:test';
import { WebSocket } from 'ws';
import { reportFailuresTo } from '../../src/lib/guard.ts';
import { createLogger } from '../../src/log/logger.ts';
import { guardApp, guardSocket } from '../../src/server/guard-app.ts';
import { jsonAnswer } from '../../src/server/http/answer.ts';
import { collectBody } from '../../src/server/http/body.ts';
import { listen } from '../../src/server/http/listener.ts';
import { ReplyWriter } from '../../src/server/http/reply.ts';
import {
  App,
  type TemplatedApp,
  us_socket_local_port,
  type WebSocketBehavior,
} from '../../src/server/uws.ts';
import { waitFor } from '../support/wait.ts';

let places: string[] = [];
beforeEach(() => {
  places = [];
  reportFailuresTo((place) => places.push(place));
});
afterEach(() => reportFailuresTo());

const boom = (): never => {
  throw new RangeError('Maximum call stack size exceeded');
};

async function serve(t: TestContext, addRoutes: (app: TemplatedApp, replies: ReplyWriter) => void) {
  const app = App();
  guardApp(app);
  const logs: string[] = [];
  addRoutes(
    app,
    new ReplyWriter(createLogger({ level: 'error', format: 'json', write: (l) => logs.push(l) })),
  );
  const socket = await listen(app, '127.0.0.1', 0);
  t.after(() => app.close());
  return { url: `127.0.0.1:${us_socket_local_port(socket)}`, logs };
}

test('a handler that throws is answered 500, and the next request is served', async (t) => {
  let fails = true;
  const { url } = await serve(t, (app) =>
    app.get('/', (res) => {
      if (fails) boom();
      res.end('fine');
    }),
  );
  const failed = await fetch(`http://${url}/`);
  assert.equal(failed.status, 500);
  assert.deepEqual(await failed.json(), { error: { code: 'internal', message: 'internal error' } });
  assert.deepEqual(places, ['request']);
  fails = false;
  assert.equal(await (await fetch(`http://${url}/`)).text(), 'fine');
});

test('an error in the callback of a body is answered 500 and logged', async (t) => {
  const { url, logs } = await serve(t, (app, replies) =>
    app.post('/', (res) => {
      const reply = replies.defer(
        res,
        () => undefined,
        () => undefined,
      );
      collectBody(res, reply, 1_000, null, (body) => {
        if (body?.toString() === 'bad') boom();
        reply.send(jsonAnswer(200, '{}'));
      });
    }),
  );
  const post = (body: string) => fetch(`http://${url}/`, { method: 'POST', body });
  assert.equal((await post('bad')).status, 500);
  assert.match(logs.join(), /request failed/);
  assert.equal((await post('good')).status, 200);
});

test('an error in any event of a response closes its connection only', async (t) => {
  const { url } = await serve(t, (app) => {
    app.post('/data', (res) => {
      res.onAborted(() => undefined);
      res.onData(boom);
    });
    app.get('/aborted', (res) => {
      res.onAborted(boom);
    });
    app.get('/writable', (res) => {
      res.onAborted(() => undefined);
      res.onWritable(boom);
      res.write(Buffer.alloc(64 * 2 ** 20));
    });
    app.get('/', (res) => void res.end('fine'));
  });
  await assert.rejects(fetch(`http://${url}/data`, { method: 'POST', body: 'x' }));
  const stop = new AbortController();
  const pending = fetch(`http://${url}/aborted`, { signal: stop.signal });
  setImmediate(() => stop.abort());
  await assert.rejects(pending);
  await assert.rejects(fetch(`http://${url}/writable`).then((response) => response.text()));
  await waitFor(() => places.length === 3, { what: 'three reports' });
  assert.deepEqual(places.toSorted(), ['answer', 'end of a request', 'request body']);
  assert.equal(await (await fetch(`http://${url}/`)).text(), 'fine');
});

test('an answer that cannot be completed is cut, not ended as if it were whole', async (t) => {
  const { url } = await serve(t, (app, replies) =>
    app.get('/', (res) => {
      const reply = replies.defer(
        res,
        () => undefined,
        () => undefined,
      );
      reply.begin({ status: 200, headers: '', cache: 'no-store' }, { resume() {} });
      reply.write(Buffer.from('half'));
      setImmediate(() => reply.guard(boom));
    }),
  );
  await assert.rejects(fetch(`http://${url}/`).then((response) => response.text()));
});

test('an error in any event of a WebSocket closes it with 1011', async (t) => {
  const names = ['open', 'message', 'ping', 'pong', 'drain'] as const;
  const { url } = await serve(t, (app) => {
    for (const name of names) {
      const behavior: WebSocketBehavior<unknown> = { [name]: boom };
      if (name === 'drain') {
        behavior.open = (socket) => void socket.send(Buffer.alloc(64 * 2 ** 20));
      }
      app.ws(`/${name}`, guardSocket(behavior));
    }
    app.ws('/upgrade', guardSocket({ upgrade: boom }));
    app.ws('/close', guardSocket({ close: boom }));
  });
  for (const name of names) {
    const socket = new WebSocket(`ws://${url}/${name}`);
    socket.on('error', () => undefined);
    socket.on('open', () => {
      if (name === 'message') socket.send('x');
      else if (name === 'ping') socket.ping();
      else if (name === 'pong') socket.pong();
    });
    const [code, reason] = await once(socket, 'close');
    if (name === 'drain') continue; // the rest of the message is in the way of the close frame
    assert.equal(code, 1011, name);
    assert.equal(String(reason), 'internal error');
  }
  const refused = new WebSocket(`ws://${url}/upgrade`);
  const [error] = await once(refused, 'error');
  assert.match(String(error), /Unexpected server response: 500/);
  const closing = new WebSocket(`ws://${url}/close`);
  await once(closing, 'open');
  closing.close();
  await once(closing, 'close');
  await waitFor(() => places.includes('end of a WebSocket'), { what: 'the report of the close' });
});

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { test } from 'node:test';
import type { UpstreamError } from '../../../src/lib/errors.ts';
import { type ResponseConsumer, StreamingHttpClient } from '../../../src/node/http/streaming-client.ts';

/** The first bytes of an answer arrive sooner, however busy the machine is. */
const TIMEOUT_MS = 800;

const IGNORE: ResponseConsumer = { begin() {}, write: () => true, end() {}, abort() {} };

test('the timeout of an answer is suspended while paused and restarts afterwards', async (t) => {
  const server = createServer((socket) => {
    // The rest of a thousand bytes never arrives.
    socket.on('data', () => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhello'));
    socket.on('error', () => undefined);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const open = () => {
    const transport = new StreamingHttpClient({
      url: `http://127.0.0.1:${port}`,
      timeoutMs: TIMEOUT_MS,
      maxSockets: 1,
      maxWaiting: 1,
      maxWaitingBytes: 1_000,
    });
    t.after(() => transport.close());
    return transport;
  };
  const transport = open();
  const begun = Promise.withResolvers<string>();
  const failed = Promise.withResolvers<UpstreamError>();
  let hasFailed = false;
  const exchange = transport.post('{}', 'eth_test', {
    ...IGNORE,
    write(piece) {
      begun.resolve(piece.toString());
      return false;
    },
    abort(error) {
      hasFailed = true;
      begun.reject(error);
      failed.resolve(error);
    },
  });
  assert.equal(await begun.promise, 'hello');
  const unpaused = Promise.withResolvers<UpstreamError>();
  open().post('{}', 'eth_test', { ...IGNORE, abort: unpaused.resolve });
  assert.equal((await unpaused.promise).reason, 'timeout');
  assert.equal(hasFailed, false, 'it began earlier, and would have failed earlier');
  const resumedAt = performance.now();
  exchange.resume();
  const { reason, message } = await failed.promise;
  assert.deepEqual([reason, message], ['timeout', 'eth_test: no complete answer within 800 ms']);
  assert.ok(performance.now() - resumedAt > TIMEOUT_MS / 2, 'it has its whole time again');
});

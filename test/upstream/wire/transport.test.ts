import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { UpstreamError } from '../../../src/errors.ts';
import { WireTransport } from '../../../src/upstream/wire/transport.ts';

/** The first bytes of an answer come sooner, however busy the machine is. */
const TIMEOUT_MS = 800;

test('the time of an answer stands still while it is paused, and begins anew afterwards', async (t) => {
  const server = createServer((socket) => {
    // Of a thousand bytes no more ever come.
    socket.on('data', () => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhello'));
    socket.on('error', () => undefined);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.after(() => server.close());
  const transport = new WireTransport({
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    timeoutMs: TIMEOUT_MS,
    maxSockets: 1,
    maxWaiting: 1,
    maxWaitingBytes: 1_000,
  });
  t.after(() => transport.close());
  const begun = Promise.withResolvers<string>();
  const failed = Promise.withResolvers<UpstreamError>();
  let hasFailed = false;
  const exchange = transport.post('{}', 'eth_test', {
    onHead() {},
    onBody(piece) {
      exchange.pause();
      begun.resolve(piece.toString());
    },
    onFailed(error) {
      hasFailed = true;
      begun.reject(error);
      failed.resolve(error);
    },
  });
  assert.equal(await begun.promise, 'hello');
  await sleep(1.5 * TIMEOUT_MS);
  assert.equal(hasFailed, false);
  const resumedAt = performance.now();
  exchange.resume();
  const { reason, message } = await failed.promise;
  assert.deepEqual([reason, message], ['timeout', 'eth_test: no complete answer within 800 ms']);
  assert.ok(performance.now() - resumedAt > TIMEOUT_MS / 2, 'it has its whole time again');
});

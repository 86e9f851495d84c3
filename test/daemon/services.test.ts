import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { test } from 'node:test';
import { ListenError } from '../../src/errors.ts';
import { startTestDaemon } from '../support/daemon.ts';

test('a daemon that cannot listen leaves no timer behind', async (t) => {
  const taken = createServer().listen(0, '127.0.0.1');
  t.after(() => taken.close());
  await once(taken, 'listening');
  const { port } = taken.address() as AddressInfo;
  const begun = t.mock.method(globalThis, 'setInterval').mock;
  const ended = t.mock.method(globalThis, 'clearInterval').mock;

  await assert.rejects(
    startTestDaemon(t, { flags: { '--node-http': 'http://127.0.0.1:1', '--port': String(port) } }),
    ListenError,
  );
  const cleared = new Set(ended.calls.map((call) => call.arguments[0]));
  const left = begun.calls.filter(({ result }) => !cleared.has(result));
  assert.ok(begun.callCount() > 0);
  assert.deepEqual(
    left.map(({ stack }) => stack.stack),
    [],
  );
});

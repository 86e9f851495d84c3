import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { getRequest } from '../../../scripts/bench/load/request.ts';
import { HeadWatcher } from '../../../scripts/bench/measure/head-watcher.ts';
import { FatalError } from '../../../src/lib/errors.ts';
import { WAIT_TIMEOUT_MS, waitFor } from '../../support/wait.ts';

/** A watcher on a server that names its head in every answer, like the daemon. */
async function startWatching(t: TestContext) {
  let head = 7;
  const server = createServer((_, response) => response.setHeader('X-Indexed-Block', head).end('{}'));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const watcher = new HeadWatcher((server.address() as AddressInfo).port, getRequest('/api/any'));
  t.after(() => watcher.close());
  const setHead = (number: number) => {
    head = number;
  };
  return { watcher, setHead, cut: () => server.closeAllConnections() };
}

test('a block is seen when an answer names it or a later one', async (t) => {
  const { watcher, setHead } = await startWatching(t);
  const seen = watcher.waitForBlock(9, WAIT_TIMEOUT_MS);
  const before = Date.now();
  setHead(10);
  assert.ok((await seen) >= before - 1);
  assert.equal(watcher.head, 10);
});

test('waiting for a block already seen returns at once', async (t) => {
  const { watcher } = await startWatching(t);
  await waitFor(() => watcher.head === 7, { what: 'the first answer' });
  assert.ok((await watcher.waitForBlock(7, 1_000)) <= Date.now() + 1);
});

test('a block that does not arrive in time is an error', async (t) => {
  const { watcher } = await startWatching(t);
  await assert.rejects(watcher.waitForBlock(8, 20), /block 8 was not indexed within 20 ms/);
});

test('a broken connection fails current and future waits at once', async (t) => {
  const { watcher, cut } = await startWatching(t);
  await waitFor(() => watcher.head === 7, { what: 'the first answer' });
  const waiting = assert.rejects(watcher.waitForBlock(8, WAIT_TIMEOUT_MS), FatalError);
  const startedAt = performance.now();
  cut();
  await waiting;
  await assert.rejects(watcher.waitForBlock(9, WAIT_TIMEOUT_MS), /cannot be asked for its head/);
  assert.ok(performance.now() - startedAt < WAIT_TIMEOUT_MS / 2);
});

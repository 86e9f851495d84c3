/** What clients see of a daemon that is stopped with `server.drain_seconds`. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type TestContext, test } from 'node:test';
import { WebSocket } from 'ws';
import { startDaemonProcess } from '../support/daemon/daemon-process.ts';
import { startGeneratedNode } from '../support/nodes/replay.ts';
import { waitFor } from '../support/wait.ts';

/** A node in front of another one. It answers eth_gasPrice itself, once `release` is called. */
async function startHoldingNode(t: TestContext, upstream: string) {
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  let held = 0;
  const server = createServer(async (request, response) => {
    const body = (await request.setEncoding('utf8').toArray()).join('');
    if (body.includes('eth_gasPrice')) {
      held++;
      await released;
      return response.end('{"jsonrpc":"2.0","id":1,"result":"0x7"}');
    }
    const answer = await fetch(upstream, { method: 'POST', body });
    response.end(await answer.text());
  }).listen(0, '127.0.0.1');
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the node has no port');
  return { url: `http://127.0.0.1:${address.port}`, release, held: () => held };
}

test('a draining daemon is not ready, serves, then closes sockets with 1001 and finishes open requests', async (t) => {
  const { node } = await startGeneratedNode(t, { seed: 1, blocks: 5, txPerBlock: 2 }, { head: 5 });
  const holding = await startHoldingNode(t, node.url);
  const daemon = await startDaemonProcess(t, {
    ATLAS_NODE_HTTP: holding.url,
    ATLAS_SERVER__DRAIN_SECONDS: '2',
  });
  const readiness = async () => (await fetch(`${daemon.url}/readyz`)).json();
  await waitFor(async () => JSON.stringify(await readiness()) === '{"ready":true}', { what: 'readiness' });
  const socket = new WebSocket(`${daemon.url.replace('http', 'ws')}/ws?api_key=${daemon.key}`);
  const closed = once(socket, 'close');
  await once(socket, 'open');
  const call = (method: string) =>
    fetch(`${daemon.url}/rpc`, {
      method: 'POST',
      headers: { 'X-API-Key': daemon.key, 'Content-Type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: [] }),
    });

  const inFlight = call('eth_gasPrice');
  await waitFor(() => holding.held() > 0, { what: 'the call at the node' });
  const signalledAt = performance.now();
  daemon.child.kill('SIGTERM');
  await waitFor(() => daemon.stderr().includes('"msg":"draining"'), { what: 'the drain' });
  assert.deepEqual(await readiness(), { ready: false, reason: 'the server is shutting down' });
  assert.equal((await call('eth_chainId')).status, 200, 'it still serves');
  assert.equal(socket.readyState, WebSocket.OPEN);

  const [code] = await closed;
  assert.equal(code, 1001);
  assert.ok(performance.now() - signalledAt >= 2_000, 'the sockets stayed open while it drained');
  holding.release();
  const answer = await inFlight;
  assert.equal(answer.status, 200);
  assert.match(await answer.text(), /"result":"0x7"/);
  assert.equal((await daemon.ended).code, 0);
});

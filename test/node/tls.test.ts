/** A node's address with the wrong scheme: the error says what to write instead. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { createServer as createTcpServer, type Server } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { UpstreamError } from '../../src/lib/errors.ts';
import { RpcClient } from '../../src/node/client.ts';
import { NodeSubscriptions } from '../../src/node/connection.ts';

const FIXTURES = fileURLToPath(new URL('../fixtures/tls/', import.meta.url));
const USE_TLS = /if it expects TLS there, use https:\/\/ or wss:\/\/ in its address/;
const USE_NO_TLS = /does not speak TLS there: use http:\/\/ or ws:\/\/ in its address/;

const tlsNode = () =>
  createHttpsServer({
    cert: readFileSync(join(FIXTURES, 'old-cert.pem')),
    key: readFileSync(join(FIXTURES, 'old-key.pem')),
  });

/** Cuts the connection at the first byte, as some TLS servers do. */
const resettingNode = () =>
  createTcpServer((socket) =>
    socket.on('error', () => undefined).once('data', () => socket.resetAndDestroy()),
  );

/** Refuses plain requests to a TLS port with a status, like nginx and Go servers. */
const refusingNode = () =>
  createTcpServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () =>
      socket.end('HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.'),
    );
  });

/** The `host:port` that a server listens on. */
async function addressOf(t: TestContext, server: Server) {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => void server.close());
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  return `127.0.0.1:${address.port}`;
}

async function httpError(t: TestContext, url: string): Promise<string> {
  const client = new RpcClient({ url, timeoutMs: 20_000, maxSockets: 1, maxBatch: 1 });
  t.after(() => client.close());
  const answer = await client.call('eth_chainId', []).catch((error: unknown) => error);
  assert.ok(answer instanceof UpstreamError, String(answer));
  return answer.message;
}

async function feedError(t: TestContext, url: string): Promise<string> {
  const lost = Promise.withResolvers<string>();
  const subscriptions = new NodeSubscriptions({
    url,
    onConnected: () => assert.fail('it connected'),
    onDisconnected: ({ message }) => lost.resolve(message),
  });
  t.after(() => subscriptions.close());
  subscriptions.subscribe(
    ['newHeads'],
    () => assert.fail('a head'),
    () => undefined,
  );
  return lost.promise;
}

for (const [what, node] of [
  ['that closes the connection', tlsNode],
  ['that resets it', resettingNode],
] as const) {
  test(`http:// and ws:// to a TLS port ${what} lead to https:// and wss://`, async (t) => {
    const address = await addressOf(t, node());
    assert.match(await httpError(t, `http://${address}`), USE_TLS);
    assert.match(await feedError(t, `ws://${address}`), USE_TLS);
  });
}

test('a TLS port that refuses with a status is recognised, or the error advises TLS', async (t) => {
  const address = await addressOf(t, refusingNode());
  assert.match(await httpError(t, `http://${address}`), /HTTP 400: .*an HTTP request to an HTTPS server/);
  assert.match(await feedError(t, `ws://${address}`), USE_TLS);
});

test('an untrusted certificate error says how to trust its issuer', async (t) => {
  const address = await addressOf(t, tlsNode());
  const advice = /self-signed certificate: to trust it, start with NODE_EXTRA_CA_CERTS set to the file/;
  assert.match(await httpError(t, `https://${address}`), advice);
  assert.match(await feedError(t, `wss://${address}`), advice);
});

test('https:// and wss:// to a plain port suggest http:// and ws://', async (t) => {
  const address = await addressOf(t, createHttpServer());
  assert.match(await httpError(t, `https://${address}`), USE_NO_TLS);
  assert.match(await feedError(t, `wss://${address}`), USE_NO_TLS);
});

test('a node that has answered before it closes is not mistaken for a TLS server', async (t) => {
  const node = createTcpServer((socket) => socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\n')));
  const message = await httpError(t, `http://${await addressOf(t, node)}`);
  assert.match(message, /closed the connection before it answered/);
});

/**
 * SIGTERM ends a daemon in time whatever the node or a receiver of webhooks does at that moment. PostgreSQL:
 * test/sink/stop.slow.test.ts.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { test } from 'node:test';
import { type Cleanup, nestedCleanup } from '../support/cleanup.ts';
import { LAUNCHER, type Running, readyUrl, run, start } from '../support/daemon/command.ts';
import { startGeneratedNode } from '../support/nodes/replay.ts';
import { startTcpProxy } from '../support/nodes/tcp-proxy.ts';
import { tempDir } from '../support/temp-dir.ts';
import { waitFor } from '../support/wait.ts';

/** The promise of the program. */
const STOP_MS = 10_000;

const CHAIN = { seed: 7, blocks: 400, txPerBlock: 4, wallets: 30, tokens: 4 };

/** A daemon beside a node whose network may fall silent. */
async function startBeside(own: Cleanup, silentAt: string | null) {
  const { node } = await startGeneratedNode(own, CHAIN, { head: 400 });
  const proxy = await startTcpProxy(own, Number(new URL(node.url).port));
  proxy.silentAt = silentAt;
  const dir = tempDir(own);
  const running = start(own, [LAUNCHER, 'start', '--port', '0'], {
    cwd: dir,
    env: {
      ATLAS_DATA_DIR: dir,
      ATLAS_NODE_HTTP: `http://127.0.0.1:${proxy.port}`,
      ATLAS_NODE_WS: `ws://127.0.0.1:${proxy.port}`,
      ATLAS_INDEX__START_BLOCK: '1',
      ATLAS_INDEX__LOADERS: '2',
      ATLAS_HOOKS__ALLOW_PRIVATE: 'true',
    },
  });
  return { running, proxy, dir };
}

/** Ends a daemon by SIGTERM: in time, in order, and without terminating a thread. */
async function endsInTime({ child, ended, stderr }: Running): Promise<void> {
  const startedAt = performance.now();
  child.kill('SIGTERM');
  const { code } = await ended;
  assert.equal(code, 0, stderr());
  const took = performance.now() - startedAt;
  assert.ok(took < STOP_MS, `it took ${Math.round(took)} ms`);
  assert.doesNotMatch(stderr(), /was terminated/);
}

for (const moment of ['eth_chainId', 'Sec-WebSocket-Key', 'eth_getBlockByNumber', 'eth_getBlockReceipts']) {
  test(`a daemon ends in time while the node is silent since ${moment}`, async (t) => {
    const own = nestedCleanup(t);
    const { running, proxy } = await startBeside(own, moment);
    await readyUrl(running);
    await waitFor(() => proxy.isSilent, { what: 'the silence' });
    await endsInTime(running);
  });
}

/** What a receiver does with a connection. */
const RECEIVERS: Record<string, (socket: Socket) => void> = {
  'never answers': () => undefined,
  'reads nothing': (socket) => void socket.pause(),
  'answers byte by byte': (socket) => {
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n');
    const timer = setInterval(() => socket.write('x'), 100);
    socket.on('close', () => clearInterval(timer));
  },
};

for (const [name, behave] of Object.entries(RECEIVERS)) {
  test(`a daemon ends in time while a receiver of webhooks ${name}`, async (t) => {
    const own = nestedCleanup(t);
    const sockets = new Set<Socket>();
    const receiver = createServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.once('data', () => behave(socket));
    }).listen(0, '127.0.0.1');
    own.after(() => {
      for (const socket of sockets) socket.destroy();
      receiver.close();
    });
    await once(receiver, 'listening');
    const { port } = receiver.address() as AddressInfo;
    const { running, dir } = await startBeside(own, null);
    await readyUrl(running);
    const { code, stderr } = await run(
      own,
      [LAUNCHER, 'hooks', 'create', '--url', `http://127.0.0.1:${port}`, '--name', 'slow'].concat([
        '--from-block',
        '0',
        '--filter',
        '{"events":["wallet_native_out"]}',
        '--data-dir',
        dir,
      ]),
      { cwd: dir, env: { ATLAS_HOOKS__ALLOW_PRIVATE: 'true' } },
    );
    assert.equal(code, 0, stderr);
    await waitFor(() => sockets.size > 0, { what: 'a delivery' });
    await endsInTime(running);
  });
}

/** The threads that talk to PostgreSQL stop in time whatever it does, and a daemon with them. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { type Cleanup, nestedCleanup, suiteCleanup } from '../support/cleanup.ts';
import { startMember } from '../support/daemon/cluster.ts';
import { LAUNCHER, type Running, readyUrl, start } from '../support/daemon/command.ts';
import { createIndex } from '../support/index/index-fixture.ts';
import { startGeneratedNode } from '../support/nodes/replay.ts';
import { startTcpProxy } from '../support/nodes/tcp-proxy.ts';
import { startPostgres, type TestPostgres } from '../support/sink/postgres.ts';
import { grow, startSink } from '../support/sink/sink.ts';
import { tempDir } from '../support/temp-dir.ts';
import { waitFor } from '../support/wait.ts';

/** The promise of the program. */
const STOP_MS = 10_000;

/** Far below the limit after which a thread is terminated: a thread ends by itself. */
const PROMPT_MS = 4_000;

/** Texts in what a sink sends, in the order of its session. */
const SINK_MOMENTS = [
  'user\0',
  'pg_try_advisory_lock',
  'tcp_keepalives_idle',
  'CREATE SCHEMA',
  'UPDATE sink SET fence',
  'FROM pg_inherits',
  'COPY transfers',
  'PGCOPY',
  'CREATE INDEX',
];

const CLUSTER_MOMENTS = [
  'user\0',
  'tcp_keepalives_idle',
  'pg_advisory_xact_lock',
  'CREATE SEQUENCE',
  'pg_try_advisory_lock',
  'INSERT INTO atlas_keys.daemons',
  'atlas_keys.usage',
  'listen "atlas_keys"',
];

async function stopsPromptly(stop: () => Promise<void>): Promise<void> {
  const startedAt = performance.now();
  await stop();
  const took = performance.now() - startedAt;
  assert.ok(took < PROMPT_MS, `it took ${Math.round(took)} ms`);
}

describe('a stop while PostgreSQL is silent', () => {
  const cleanup = suiteCleanup();
  let server: TestPostgres;
  before(async () => {
    server = await startPostgres(cleanup);
  });

  for (const [number, moment] of SINK_MOMENTS.entries()) {
    test(`ends the sink at once when the silence began at ${JSON.stringify(moment)}`, async (t) => {
      const own = nestedCleanup(t);
      const index = createIndex(own, 1);
      grow(index, 40, 1);
      const direct = await server.createDatabase(`sink_${number}`);
      const proxy = await startTcpProxy(own, server.port);
      proxy.silentAt = moment;
      const sink = startSink(own, index, { url: direct.replace(`:${server.port}/`, `:${proxy.port}/`) });
      await waitFor(() => proxy.isSilent, { what: 'the silence' });
      await stopsPromptly(() => sink.client.stop());
    });
  }

  for (const [number, moment] of CLUSTER_MOMENTS.entries()) {
    test(`ends the sharing of keys at once when the silence began at ${JSON.stringify(moment)}`, async (t) => {
      const own = nestedCleanup(t);
      const direct = await server.createDatabase(`keys_${number}`);
      const proxy = await startTcpProxy(own, server.port);
      proxy.silentAt = moment;
      const url = direct.replace(`:${server.port}/`, `:${proxy.port}/`);
      const stop = new AbortController();
      const starting = startMember(own, { url, signal: stop.signal });
      await waitFor(() => proxy.isSilent, { what: 'the silence' });
      await stopsPromptly(async () => {
        stop.abort();
        await starting.then(
          (member) => member.stop(),
          () => undefined,
        );
      });
    });
  }

  test('ends the sharing of keys at once while daemons are in step', async (t) => {
    const own = nestedCleanup(t);
    const direct = await server.createDatabase('in_step');
    const proxy = await startTcpProxy(own, server.port);
    const member = await startMember(own, { url: direct.replace(`:${server.port}/`, `:${proxy.port}/`) });
    proxy.isSilent = true;
    await stopsPromptly(() => member.stop());
  });

  const daemonBeside = async (own: Cleanup, name: string) => {
    const { node } = await startGeneratedNode(
      own,
      { seed: 7, blocks: 30, txPerBlock: 4, wallets: 30, tokens: 4 },
      { head: 20 },
    );
    const direct = await server.createDatabase(name);
    const proxy = await startTcpProxy(own, server.port);
    const nodeProxy = await startTcpProxy(own, Number(new URL(node.url).port));
    const url = direct.replace(`:${server.port}/`, `:${proxy.port}/`);
    const dir = tempDir(own);
    const run = (settings: Record<string, string>) =>
      start(own, [LAUNCHER, 'start', '--port', '0'], {
        cwd: dir,
        env: {
          ATLAS_DATA_DIR: dir,
          ATLAS_NODE_HTTP: `http://127.0.0.1:${nodeProxy.port}`,
          ATLAS_NODE_WS: `ws://127.0.0.1:${nodeProxy.port}`,
          ATLAS_INDEX__START_BLOCK: '1',
          ...settings,
        },
      });
    return { proxy, nodeProxy, url, run };
  };

  /** Ends a daemon by SIGTERM: in time, and in order. */
  const endsInTime = async (running: Running) => {
    const startedAt = performance.now();
    running.child.kill('SIGTERM');
    const { code } = await running.ended;
    assert.equal(code, 0, running.stderr());
    const took = performance.now() - startedAt;
    assert.ok(took < STOP_MS, `it took ${Math.round(took)} ms`);
  };

  test('SIGTERM ends a daemon in time while PostgreSQL and the node are silent', async (t) => {
    const own = nestedCleanup(t);
    const { proxy, nodeProxy, url, run } = await daemonBeside(own, 'daemon');
    proxy.silentAt = 'CREATE SCHEMA "atlas"';
    const running = run({ ATLAS_SINK__POSTGRES__URL: url });
    await readyUrl(running);
    await waitFor(() => proxy.isSilent, { what: 'the silence' });
    nodeProxy.isSilent = true;
    await endsInTime(running);
  });

  test('SIGTERM ends a daemon in time that waits for the shared keys to start', async (t) => {
    const own = nestedCleanup(t);
    const { proxy, url, run } = await daemonBeside(own, 'waiting');
    proxy.silentAt = 'pg_advisory_xact_lock';
    const running = run({ ATLAS_ACCESS__POSTGRES: url });
    await waitFor(() => proxy.isSilent, { what: 'the silence' });
    await endsInTime(running);
  });
});

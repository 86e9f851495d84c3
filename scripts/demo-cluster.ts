/** A demo cluster: one chain, two daemons, PostgreSQL and nginx. See `--help`. */
import { setTimeout as sleep } from 'node:timers/promises';
import { waitForStopSignal } from '../src/cli/signals.ts';
import { startAnvil } from '../src/dev/anvil.ts';
import { deployDemo } from '../src/dev/deploy.ts';
import { sampleAddresses } from '../src/dev/sample-addresses.ts';
import { DEMO_SEED, generateTraffic } from '../src/dev/traffic.ts';
import { CleanupStack } from '../src/lib/cleanup-stack.ts';
import type { Cleanup } from '../test/support/cleanup.ts';
import { ResumingStream } from '../test/support/clients/resuming-stream.ts';
import {
  ADMIN_TOKEN,
  type ClusterDaemon,
  startClusterDaemon,
} from '../test/support/daemon/cluster-daemon.ts';
import { hasNginx, type Nginx, startNginx } from '../test/support/daemon/nginx.ts';
import { startPostgres } from '../test/support/sink/postgres.ts';
import { readOptions, refuse } from './options.ts';

const options = readOptions(
  'Runs a local chain with traffic, two daemons that share their keys through PostgreSQL, and nginx in ' +
    'front of them, all on loopback. A client follows the chain through nginx; the daemon that serves it is ' +
    'killed with -9 and started again.',
  {
    'kill-after': {
      kind: 'whole',
      about: 'seconds until the kill; 0 for none',
      default: 20,
      range: [0, 86_400],
    },
  },
);
if (!hasNginx) refuse('the demo needs nginx: install it (apt install nginx), it need not run');

const BLOCK_TIME_MS = 1_000;
const ROUND_PAUSE_MS = 3_000;
/** Interval of log lines about the client, milliseconds. */
const REPORT_MS = 5_000;
/** How long a killed daemon stays down, milliseconds. */
const AWAY_MS = 10_000;

interface Cluster {
  nginx: Nginx;
  daemons: ClusterDaemon[];
  key: string;
}

const stopped = waitForStopSignal();
const stop = new AbortController();
void stopped.then(() => stop.abort());
const closers = new CleanupStack();
const cleanup: Cleanup = { after: (close) => void closers.adopt(null, close) };

try {
  await demo();
} catch (error) {
  if (!stop.signal.aborted) throw error;
} finally {
  stop.abort();
  await closers.close();
}

async function demo(): Promise<void> {
  console.log('starting a chain, PostgreSQL, two daemons and nginx ...');
  const anvil = await startAnvil({ blockTimeMs: BLOCK_TIME_MS, stateBlocks: 128 });
  cleanup.after(() => anvil.stop());
  const contracts = await deployDemo(anvil.url, { mine: true, signal: stop.signal });
  await generateTraffic(anvil.url, contracts, { rounds: 1, mine: true, signal: stop.signal });
  const server = await startPostgres(cleanup);
  const database = await server.createDatabase('atlas');
  const settings = {
    ATLAS_NODE_HTTP: anvil.url,
    ATLAS_NODE_WS: anvil.wsUrl,
    ATLAS_CHAIN__WRAPPED_NATIVE: contracts.wrapped,
    ATLAS_ACCESS__POSTGRES: database,
  };
  const daemons = [await startClusterDaemon(cleanup, settings), await startClusterDaemon(cleanup, settings)];
  await Promise.all(daemons.map((daemon) => daemon.isReady()));
  const nginx = await startNginx(
    cleanup,
    daemons.map(({ port }) => port),
  );
  const { key } = (await daemons[0]?.keys<{ key: string }>(
    'create',
    '--name',
    'demo',
    '--tier',
    'growth',
  )) ?? { key: '' };
  stop.signal.throwIfAborted();
  const traffic = generateTraffic(anvil.url, contracts, {
    seed: DEMO_SEED + 1,
    roundPauseMs: ROUND_PAUSE_MS,
    signal: stop.signal,
  });
  cleanup.after(() =>
    traffic.then(
      () => undefined,
      () => undefined,
    ),
  );
  console.log(banner({ nginx, daemons, key }, database, sampleAddresses(contracts, DEMO_SEED).hotWallet));
  const head = Number(await anvil.call('eth_blockNumber'));
  await Promise.race([watch({ nginx, daemons, key }, head), stopped]);
}

/** Shows the client's view, kills the daemon that serves it once, and restarts any that is down. */
async function watch({ nginx, daemons, key }: Cluster, fromBlock: number): Promise<void> {
  const client = new ResumingStream(nginx.url, key, fromBlock);
  cleanup.after(() => client.stop());
  const startedAt = performance.now();
  let isKillDue = options['kill-after'] > 0;
  const goneAt = new Map<ClusterDaemon, number>();
  while (!stop.signal.aborted) {
    await sleep(REPORT_MS, undefined, { signal: stop.signal });
    const serving = await servingDaemon(daemons);
    console.log(await clientLine(client, { nginx, daemons, key }, serving));
    if (isKillDue && serving !== undefined && performance.now() - startedAt > options['kill-after'] * 1000) {
      isKillDue = false;
      console.log(
        `\n> kill -9 ${serving.child.pid} (${serving.url}): the client goes on with the other daemon\n`,
      );
      await serving.end('SIGKILL');
    }
    for (const daemon of daemons) {
      if (daemon.isRunning()) goneAt.delete(daemon);
      else if (!goneAt.has(daemon)) goneAt.set(daemon, performance.now());
      else if (performance.now() - (goneAt.get(daemon) ?? 0) > AWAY_MS) {
        await daemon.start();
        console.log(`\n> ${daemon.url} is started again, process ${daemon.child.pid}\n`);
      }
    }
  }
}

/** The daemon that holds the client's socket. */
async function servingDaemon(daemons: readonly ClusterDaemon[]): Promise<ClusterDaemon | undefined> {
  for (const daemon of daemons) {
    if (!daemon.isRunning()) continue;
    const { total } = await daemon.admin<{ total: number }>('sockets').catch(() => ({ total: 0 }));
    if (total > 0) return daemon;
  }
  return undefined;
}

async function clientLine(
  { events, connections }: ResumingStream,
  { nginx, daemons, key }: Cluster,
  serving: ClusterDaemon | undefined,
): Promise<string> {
  const headers = { 'X-API-Key': key };
  const { status } = await fetch(`${nginx.url}/api/chain_stats`, { headers });
  const counts = await Promise.all(
    daemons.map(async (daemon) => {
      if (!daemon.isRunning()) return 'away';
      const { keys } = await daemon.admin<{ keys: { requestsThisMonth: number }[] }>('keys');
      return `${keys[0]?.requestsThisMonth}`;
    }),
  );
  return [
    `client: ${events.length} events up to block ${events.at(-1)?.blockNumber ?? '-'}`,
    `served by ${serving?.url ?? 'nobody yet'}`,
    connections === 1 ? 'first connection' : `connection ${connections}`,
    `GET through nginx ${status}`,
    `requests of the key as each daemon counts them: ${counts.join(' and ')}`,
  ].join(', ');
}

function banner({ nginx, daemons, key }: Cluster, database: string, wallet: string): string {
  const daemonLines = daemons.map(
    ({ url, child }, i) =>
      `  daemon ${i + 1}   ${url} (panel ${url}/admin, token ${ADMIN_TOKEN}, process ${child.pid})`,
  );
  return `
Two daemons share their keys; nginx sends each key to one of them.

  nginx      ${nginx.url}
${daemonLines.join('\n')}
  keys       ${database} (schema atlas_keys)
  key        ${key}

Paste into another terminal:

curl -s -H 'X-API-Key: ${key}' '${nginx.url}/api/wallet_summary?address=${wallet}'
curl -s ${nginx.url}/status
kill -9 ${daemons[1]?.child.pid}

Ctrl-C ends all of it.
`;
}

/** `atlas-node dev`: a local chain with demo contracts and traffic, and a daemon that indexes it. */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openKeyStore } from '../access/keys.ts';
import { waitForStopSignal } from '../cli/signals.ts';
import { makeDataDir } from '../config/load-config.ts';
import { startDaemon } from '../daemon.ts';
import { type LabelRow, openLabelsFile } from '../labels/labels-file.ts';
import { pause } from '../lib/async.ts';
import { CleanupStack } from '../lib/cleanup-stack.ts';
import { FatalError } from '../lib/errors.ts';
import type { Logger } from '../log/logger.ts';
import type { IndexStatus } from '../model/index-status.ts';
import { type Anvil, startAnvil } from './anvil.ts';
import { devBanner } from './banner.ts';
import type { DemoContracts } from './contracts.ts';
import { deployDemo } from './deploy.ts';
import { devConfig, withUsablePort } from './dev-config.ts';
import { demoLabels, exampleAddresses, sampleAddresses } from './sample-addresses.ts';
import { DEMO_SEED, generateTraffic } from './traffic.ts';

const BLOCK_TIME_MS = 1_000;
/** States kept by the chain: few, because a demo may run for days and a state takes up to a megabyte. */
const STATE_BLOCKS = 128;
/** Rounds before the daemon starts, so that there is history to index. */
const FIRST_ROUNDS = 3;
const ROUND_PAUSE_MS = 5_000;
const TRAFFIC_RETRY_MS = 5_000;
const CATCH_UP_TIMEOUT_MS = 60_000;

/** Placeholder for the chain while only settings are checked. */
const NO_CHAIN = {
  node: { url: 'http://127.0.0.1', wsUrl: 'ws://127.0.0.1' },
  wrapped: '0x0000000000000000000000000000000000000000',
  dataDir: '.',
} as const;

/** Runs until SIGINT or SIGTERM, then ends everything it started, in reverse order. */
export async function runDev(log: Logger, port?: string): Promise<void> {
  const closers = new CleanupStack();
  const stop = new AbortController();
  void waitForStopSignal().then(() => stop.abort());
  try {
    await runUntilStopped(log, port, closers, stop);
  } catch (error) {
    if (!stop.signal.aborted || error !== stop.signal.reason) throw error;
  } finally {
    await closers.close();
  }
}

/** Throws the reason of `stop` when it aborts during startup. */
async function runUntilStopped(
  log: Logger,
  port: string | undefined,
  closers: CleanupStack,
  stop: AbortController,
): Promise<void> {
  const stopped = once(stop.signal, 'abort');
  devConfig({ ...NO_CHAIN, port }, process.env); // reject an invalid setting before the chain starts
  const dataDir = temporaryFolder(closers);
  const { anvil, contracts, height } = await startChain(log, closers, stop.signal);
  const settings = devConfig({ dataDir, node: anvil, wrapped: contracts.wrapped, port }, process.env);
  const samples = sampleAddresses(contracts, DEMO_SEED);
  const { key } = issueKey(dataDir);
  importLabels(dataDir, demoLabels(samples, contracts));
  const config = await withUsablePort(settings);
  const daemon = await startDaemon(config, {
    log,
    development: true,
    examples: exampleAddresses(samples),
    sources: settings.sources,
  });
  closers.adopt(daemon, (daemon) => daemon.close());
  await waitUntilIndexed(() => daemon.status(), height, stop.signal);
  stop.signal.throwIfAborted();

  closers.adopt(runTraffic(anvil.url, contracts, stop.signal, log), (traffic) => {
    stop.abort();
    return traffic;
  });
  const adminToken = settings.sources.admin_token === 'demo' ? config.admin_token : null;
  console.log(devBanner({ url: daemon.url, nodeUrl: anvil.url, key, adminToken, samples }));
  await Promise.race([stopped, daemon.closed, rejectOnExit(anvil)]);
}

function temporaryFolder(closers: CleanupStack): string {
  const folder = mkdtempSync(join(tmpdir(), 'atlas-node-dev-'));
  return closers.adopt(folder, () => rmSync(folder, { recursive: true, force: true }));
}

/** A chain with the demo contracts and some history, up to block `height`. Throws the signal's reason. */
async function startChain(log: Logger, closers: CleanupStack, signal: AbortSignal) {
  const anvil = await startAnvil({
    blockTimeMs: BLOCK_TIME_MS,
    stateBlocks: STATE_BLOCKS,
  });
  closers.adopt(anvil, (anvil) => anvil.stop());
  const contracts = await deployDemo(anvil.url, { mine: true, signal });
  const traffic = { rounds: FIRST_ROUNDS, mine: true, signal };
  const { transactions } = await generateTraffic(anvil.url, contracts, traffic);
  signal.throwIfAborted();
  const height = Number(await anvil.call('eth_blockNumber'));
  log.info({ url: anvil.url, height, transactions, contracts }, 'local chain started with demo traffic');
  return { anvil, contracts, height };
}

/** A key for the demo, created before the daemon opens the file, so that it is valid from the start. */
function issueKey(dataDir: string): { key: string } {
  makeDataDir(dataDir);
  const store = openKeyStore(join(dataDir, 'keys.db'));
  try {
    return store.create({ name: 'demo', tier: 'unlimited' });
  } finally {
    store.close();
  }
}

function importLabels(dataDir: string, labels: readonly LabelRow[]): void {
  const store = openLabelsFile(join(dataDir, 'labels.db'));
  try {
    store.import(labels);
  } finally {
    store.close();
  }
}

/** Waits until the index contains block `height`. After too long, throws a FatalError with the indexer's reason. */
async function waitUntilIndexed(
  status: () => IndexStatus,
  height: number,
  signal: AbortSignal,
): Promise<void> {
  const deadline = performance.now() + CATCH_UP_TIMEOUT_MS;
  while (!signal.aborted && (status().head?.number ?? -1) < height) {
    if (performance.now() > deadline) {
      const { phase, reason, head } = status();
      const state = `phase ${phase}, block ${head?.number ?? 'none'}, ${reason ?? 'no reason given'}`;
      throw new FatalError(
        `the index did not reach block ${height} of the local chain within a minute: ${state}`,
      );
    }
    await pause(50, signal);
  }
}

/**
 * Slow traffic until `signal` aborts. Anybody can reorganise the chain, so a failed round is followed by a newly
 * planned one.
 */
async function runTraffic(
  url: string,
  contracts: DemoContracts,
  signal: AbortSignal,
  log: Logger,
): Promise<void> {
  for (let seed = DEMO_SEED + 1; !signal.aborted; seed++) {
    try {
      await generateTraffic(url, contracts, { seed, roundPauseMs: ROUND_PAUSE_MS, signal });
    } catch (err) {
      if (signal.aborted) return;
      log.warn({ err }, 'demo traffic failed; continuing with other wallets');
      await pause(TRAFFIC_RETRY_MS, signal);
    }
  }
}

async function rejectOnExit(anvil: Anvil): Promise<never> {
  await anvil.exited;
  throw new FatalError('the local chain exited unexpectedly: run `atlas-node dev` again for a new one');
}

/** `atlas-node dev`: a local chain with demo contracts and traffic, and a daemon that indexes it. */

import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { signaturesOfAbi } from '../abi/abi-files.ts';
import { openKeyStore } from '../access/keys.ts';
import { waitForStopSignal } from '../cli/signals.ts';
import { makeDataDir } from '../config/load-config.ts';
import { type Config, type ParsedConfig, parseConfig } from '../config/parse-config.ts';
import { startDaemon } from '../daemon.ts';
import { type LabelRow, openLabelsFile } from '../labels/labels-file.ts';
import { pause } from '../lib/async.ts';
import { CleanupStack } from '../lib/cleanup-stack.ts';
import { FatalError } from '../lib/errors.ts';
import type { Hex } from '../lib/hex.ts';
import type { Logger } from '../log/logger.ts';
import { ZERO_ADDRESS } from '../model/address.ts';
import type { IndexStatus } from '../model/index-status.ts';
import { type Anvil, startAnvil } from './anvil.ts';
import { abis, type DemoContracts } from './contracts.ts';
import { deployDemo } from './deploy.ts';
import { demoLabels, exampleAddresses, type SampleAddresses, sampleAddresses } from './sample-addresses.ts';
import { DEMO_SEED, generateTraffic } from './traffic.ts';

const BLOCK_TIME_MS = 1_000;
/** States kept by the chain: few, because a demo may run for days and a state takes up to a megabyte. */
const STATE_BLOCKS = 128;
/** Rounds before the daemon starts, so that there is history to index. */
const FIRST_ROUNDS = 3;
const ROUND_PAUSE_MS = 5_000;
const TRAFFIC_RETRY_MS = 5_000;
/** Two seconds on an idle machine; a laptop that builds something beside it takes minutes. */
const CATCH_UP_TIMEOUT_MS = 300_000;

/** Placeholder for the chain while only settings are checked. */
const NO_CHAIN = {
  node: { url: 'http://127.0.0.1', wsUrl: 'ws://127.0.0.1' },
  wrapped: ZERO_ADDRESS,
  stable: ZERO_ADDRESS,
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
  const { wrapped, stable } = contracts;
  const settings = devConfig({ dataDir, node: anvil, wrapped, stable, port }, process.env);
  const samples = sampleAddresses(contracts, DEMO_SEED);
  const { key } = issueKey(dataDir);
  importLabels(dataDir, demoLabels(samples, contracts));
  const config = await withUsablePort(settings);
  const daemon = await startDaemon(config, {
    log,
    development: true,
    examples: exampleAddresses(samples),
    signatures: await signaturesOfAbi(Object.values(abis).flat()),
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
  console.log(devBanner({ url: daemon.url, nodeUrl: anvil.url, dataDir, key, adminToken, samples }));
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
        `the index did not reach block ${height} of the local chain within five minutes: ${state}`,
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

interface BannerData {
  /** Address of the daemon, such as `http://127.0.0.1:8650`. */
  url: string;
  /** Address of the chain's node. */
  nodeUrl: string;
  dataDir: string;
  key: string;
  /** The operator token, or null if the operator already knows it. */
  adminToken: string | null;
  samples: SampleAddresses;
}

/** The addresses, the key and requests to paste, as text for a terminal. */
function devBanner(data: BannerData): string {
  const { url, nodeUrl, dataDir, key, adminToken, samples } = data;
  const sockets = url.replace(/^http/, 'ws');
  const [coordinated] = samples.cohort;
  return `
atlas-node is indexing a local chain with demo traffic and serving it.

  key         ${key}
  REST        ${url}/api, documented at ${url}/docs
  RPC         ${url}/rpc (anvil_* too, to steer the chain)
  WebSocket   ${sockets}/ws and ${sockets}/ws/signals
  node        ${nodeUrl} (anvil, one block a second)
  data        ${dataDir} (removed at the end)

Addresses to look up:

  token       ${samples.token} (ERC-20)
  NFT         ${samples.nft} (ERC-721)
  trader      ${samples.trader} (buys and sells every token)
  swing       ${samples.swingTrader} (bought 1,000 DEMO for 10 coins, sold them for 20)
  launch      ${samples.snipedToken} (ERC-20, two wallets bought it one block later)
  hot wallet  ${samples.hotWallet} (funds many wallets)
  coordinated ${coordinated} (funded together with ${samples.cohort.length - 1} others)

Paste any of these into another terminal:

${curlLines(data).join('\n\n')}

${sqlLine(data)}

Ctrl-C stops the daemon and the chain. Open one of these in a browser:

  panel       ${url}/admin (operator token ${adminToken ?? 'as configured'})
  explorer    ${url}/#key=${key}
`;
}

/** Five requests with non-trivial answers, each one line of shell. */
function curlLines({ url, key, samples }: BannerData): string[] {
  const get = (endpoint: string, parameters: string) =>
    `curl -s -H 'X-API-Key: ${key}' '${url}/api/${endpoint}?${parameters}'`;
  const post = (path: string, body: object) =>
    `curl -s -H 'X-API-Key: ${key}' -H 'Content-Type: application/json' -d '${JSON.stringify(body)}' '${url}${path}'`;
  const chainEnd = samples.chain.at(-1);
  const batch: Hex[] = [samples.hotWallet, samples.whale, ...samples.cohort.slice(0, 2)];
  return [
    get('address_transfers', `address=${samples.trader}&limit=5`),
    get('wallet_summary', `address=${samples.hotWallet}`),
    get('wallet_funding_source', `address=${chainEnd}`),
    post('/api/wallets/batch', { addresses: batch }),
    post('/rpc', { jsonrpc: '2.0', id: 1, method: 'eth_blockNumber', params: [] }),
  ];
}

/** A question in SQL. `npm start` runs in the project's folder, whose program need not be on the PATH. */
function sqlLine({ dataDir }: BannerData): string {
  const program = process.env.npm_lifecycle_event === 'start' ? 'bin/atlas-node' : 'atlas-node';
  const query = 'SELECT symbol, token_address, holders FROM tokens ORDER BY holders DESC LIMIT 5';
  return `${program} sql --data-dir ${dataDir} "${query}"`;
}

/** The configuration of the daemon started by `atlas-node dev`. */
export interface DevSettings {
  node: { url: string; wsUrl: string };
  /** The demo chain's own wrapped native coin. */
  wrapped: Hex;
  /** Its stable coin, which others are bought with. */
  stable: Hex;
  dataDir: string;
  /** The port given on the command line. */
  port?: string | undefined;
}

/** Length of the generated operator token, used if none is configured. */
const ADMIN_TOKEN_BYTES = 12;

/** The environment applies here too, except for the node, the data and the coins, which belong to the demo. */
export function devConfig(settings: DevSettings, env: Record<string, string | undefined>): ParsedConfig {
  const { config, sources } = parseConfig({
    env: {
      ...env,
      ATLAS_CHAIN__WRAPPED_NATIVE: settings.wrapped,
      ATLAS_TRADES__QUOTE_TOKENS: settings.stable,
    },
    flags: {
      '--node-http': settings.node.url,
      '--node-ws': settings.node.wsUrl,
      '--data-dir': settings.dataDir,
      ...(settings.port !== undefined && { '--port': settings.port }),
    },
  });
  // Operators cannot permit these methods, because they control the node. Controlling this node is their purpose.
  const rpc = { ...config.rpc, allow: [...config.rpc.allow, 'anvil_*'] };
  const sourcesOfDemo: Record<string, string> = {};
  let { admin_token, index, hooks } = config;
  if (admin_token === '') {
    admin_token = randomBytes(ADMIN_TOKEN_BYTES).toString('base64url');
    sourcesOfDemo['admin_token'] = 'demo';
  }
  if (sources['index.stale_seconds'] === 'default') {
    index = { ...index, stale_seconds: 0 }; // an unused local chain mines no blocks
    sourcesOfDemo['index.stale_seconds'] = 'demo';
  }
  if (sources['hooks.allow_private'] === 'default') {
    hooks = { ...hooks, allow_private: true }; // whoever tries a webhook receives it on the same machine
    sourcesOfDemo['hooks.allow_private'] = 'demo';
  }
  return { config: { ...config, index, hooks, rpc, admin_token }, sources: { ...sources, ...sourcesOfDemo } };
}

/** The configured port, or any free one (0) if no port was requested and the default one is taken. */
export async function withUsablePort(parsed: ParsedConfig): Promise<Config> {
  const { config, sources } = parsed;
  const { host, port } = config.server;
  if (sources['server.port'] !== 'default' || !(await isTaken(host, port))) return config;
  return { ...config, server: { ...config.server, port: 0 } };
}

function isTaken(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code === 'EADDRINUSE'));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(false)));
  });
}

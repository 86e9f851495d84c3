/**
 * Mixed load at twice the rate of the tiers, over REST, /rpc and /ws, during backfill and at the head. In the end every
 * answer must have been right, the limits exact within two percent, the memory flat, and nothing lost: no counts in
 * keys.db, no heads, no pushed transfers.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openKeyStore } from '../../src/access/keys.ts';
import { openKeysFile } from '../../src/access/keys-file.ts';
import { readUsage } from '../../src/access/usage-tables.ts';
import { Prng } from '../../src/lib/random.ts';
import { scriptCleanup } from '../../test/support/cleanup.ts';
import { startGeneratedNode } from '../../test/support/nodes/replay.ts';
import { quantile } from '../bench/figure.ts';
import { LAUNCHER, startDaemon } from '../daemon.ts';
import { MemoryMonitor } from '../memory-monitor.ts';
import { MAX_SEED, readOptions } from '../options.ts';
import { type CallCounts, callAtRate } from './load/call-at-rate.ts';
import { HttpClient, isRateLimited, type RpcAnswer, WsClient } from './load/clients.ts';
import { ExpectedAnswers } from './load/expected-answers.ts';

/** Requests per second that the tiers allow, as in config.example.toml. */
const RATES = { free: 5, growth: 50, pro: 100 } as const;
const TRANSPORTS = ['rest', 'rpc', 'ws'] as const;

/** The chain grows in bursts, so that the index backfills repeatedly. */
const BURST_BLOCKS = 50;
const BURST_INTERVAL_MS = 2_000;
const FIRST_BLOCKS = 500;
const LIMIT_TOLERANCE = 0.02;
const WATCHED_WALLETS = 8;
const SAMPLE_MS = 2_000;
const MAX_SHOWN_FAULTS = 20;

const { minutes, seed } = readOptions(
  'Loads a daemon with twice what the tiers allow while its index fills, and checks answers, limits, memory ' +
    'and counts.',
  {
    minutes: { kind: 'decimal', about: 'of load', default: 10, range: [1, 1_440] },
    seed: { kind: 'whole', about: 'of the chain and the requests', default: 1, range: [0, MAX_SEED] },
  },
);
const prng = new Prng(seed);
const faults: string[] = [];
const reportFault = (what: string): void => void faults.push(what);

const bursts = Math.ceil((minutes * 60_000) / BURST_INTERVAL_MS);
const owner = scriptCleanup();
const { node, blocks } = await startGeneratedNode(
  owner,
  {
    blocks: FIRST_BLOCKS + bursts * BURST_BLOCKS + 10,
    txPerBlock: 6,
    startBlock: 1,
    wallets: 300,
    tokens: 40,
    seed,
  },
  { head: FIRST_BLOCKS },
);
const expected = new ExpectedAnswers(blocks);
const dir = mkdtempSync(join(tmpdir(), 'atlas-load-'));
const keys = issueKeys();
const daemon = await startDaemon(
  LAUNCHER,
  [
    ...['--data-dir', dir, '--start-block', '1', '--log-level', 'warn'],
    ...['--node-http', node.url, '--node-ws', node.wsUrl],
  ],
  // Calls over a key's rate fail at once instead of waiting, because this script counts admitted calls.
  { ATLAS_RPC__RATE_WAIT_MS: '0' },
);
await waitForHead(FIRST_BLOCKS);

const heads: number[] = [];
const pushed = new Map<string, number[]>();
const watcher = await subscribeWatcher();
const memory = new MemoryMonitor(daemon.pid);
const timers = [
  setInterval(() => node.mine(BURST_BLOCKS), BURST_INTERVAL_MS),
  setInterval(() => memory.sample(), SAMPLE_MS),
  setInterval(
    () => console.log(`block ${node.stats().head}, ${memory.latest}, ${faults.length} faults`),
    60_000,
  ),
];
const { counts, seconds } = await load();
for (const timer of timers) clearInterval(timer);
const lastHead = node.stats().head;
await waitForHead(lastHead);
await waitUntil(() => heads.at(-1) === lastHead, `head ${lastHead} to be pushed`);
await checkEnd();
await stopDaemon();
checkUsage();
checkMemory();
for (const what of [...new Set(faults)].slice(0, MAX_SHOWN_FAULTS)) console.log(`FAULT ${what}`);
console.log(faults.length === 0 ? 'no faults' : `${faults.length} faults`);
await owner.close();
rmSync(dir, { recursive: true, force: true });
process.exit(faults.length === 0 ? 0 : 1);

/** A key for each tier and transport, and one without limits for the watcher. */
function issueKeys(): Map<string, { key: string; id: number }> {
  const store = openKeyStore(join(dir, 'keys.db'));
  const issued = new Map<string, { key: string; id: number }>();
  const issue = (name: string, tier: string): void => {
    const { key, record } = store.create({ name, tier });
    issued.set(name, { key, id: record.id });
  };
  for (const tier of Object.keys(RATES))
    for (const transport of TRANSPORTS) issue(`${tier} ${transport}`, tier);
  issue('watcher', 'unlimited');
  store.close();
  return issued;
}

function keyOf(name: string): { key: string; id: number } {
  const issued = keys.get(name);
  if (issued === undefined) throw new Error(`there is no key ${name}`);
  return issued;
}

/** Subscribes with the key that has no limits: to all heads, and to the transfers of some wallets. */
async function subscribeWatcher(): Promise<WsClient> {
  const client = new WsClient(daemon.url, keyOf('watcher').key);
  await client.opened();
  await client.subscribe(['newHeads'], (head) => heads.push(Number((head as { number: string }).number)));
  for (const wallet of new Set(Array.from({ length: WATCHED_WALLETS }, () => prng.pick(expected.wallets)))) {
    const received: number[] = [];
    pushed.set(wallet, received);
    await client.subscribe(
      ['wallet_transfers', { address: wallet, fromBlock: FIRST_BLOCKS + 1 }],
      (transfer) => received.push((transfer as { blockNumber: number }).blockNumber),
    );
  }
  return client;
}

/** Uses every key at twice its rate, until the time is up. */
async function load(): Promise<{ counts: Map<string, CallCounts>; seconds: number }> {
  const stop = new AbortController();
  const startedAt = performance.now();
  const running = [...Object.entries(RATES)].flatMap(([tier, rate]) =>
    TRANSPORTS.map(async (transport) => {
      const name = `${tier} ${transport}`;
      const { call, close } = await callerOf(transport, keyOf(name).key);
      const safely = () =>
        call().catch((error: unknown) => {
          reportFault(`${name}: ${String(error)}`);
          return false;
        });
      const callCounts = await callAtRate(2 * rate, safely, stop.signal);
      await close();
      return [name, callCounts] as const;
    }),
  );
  await sleep(minutes * 60_000);
  const seconds = (performance.now() - startedAt) / 1000;
  stop.abort();
  return { counts: new Map(await Promise.all(running)), seconds };
}

interface Caller {
  /** Makes one call and checks its answer. Returns false if it was over the limits. */
  call(): Promise<boolean>;
  close(): void | Promise<void>;
}

async function callerOf(transport: (typeof TRANSPORTS)[number], key: string): Promise<Caller> {
  if (transport === 'ws') {
    const client = new WsClient(daemon.url, key);
    await client.opened();
    return {
      call: () => askForBlock((method, params) => client.call(method, params)),
      close() {
        if (client.ended !== null) reportFault(`a WebSocket was closed: ${client.ended}`);
        client.close();
      },
    };
  }
  const client = new HttpClient(daemon.url, key);
  const overHttp = async (method: string, params: unknown[]): Promise<RpcAnswer> =>
    (await client.rpc(method, params)).body as RpcAnswer;
  return {
    call: transport === 'rest' ? () => askForTransfers(client) : () => askForBlock(overHttp),
    close: () => undefined,
  };
}

async function askForTransfers(client: HttpClient): Promise<boolean> {
  const wallet = prng.pick(expected.wallets);
  const answer = await client.get(expected.pathOf(wallet));
  if (answer.status === 429) return false;
  const mismatch =
    answer.status === 200 ? expected.checkTransfers(wallet, answer) : `REST gave ${answer.status}`;
  if (mismatch !== null) reportFault(mismatch);
  return true;
}

async function askForBlock(
  call: (method: string, params: unknown[]) => Promise<RpcAnswer>,
): Promise<boolean> {
  const number = 1 + prng.below(FIRST_BLOCKS);
  const answer = await call('eth_getBlockByNumber', [`0x${number.toString(16)}`, false]);
  if (isRateLimited(answer)) return false;
  const mismatch = expected.checkBlock(number, answer);
  if (mismatch !== null) reportFault(mismatch);
  return true;
}

/** Checks the pushes, the limits, and every wallet once more. */
async function checkEnd(): Promise<void> {
  const gap = heads.findIndex((number, i) => i > 0 && number !== heads[i - 1]! + 1);
  if (gap >= 0) reportFault(`after head ${heads[gap - 1]} came ${heads[gap]}`);
  for (const [wallet, received] of pushed) {
    const due = expected.blocksOf(wallet, FIRST_BLOCKS, lastHead).length;
    await waitUntil(() => received.length >= due, `the transfers of ${wallet}`).catch(() => undefined);
    if (received.length !== due)
      reportFault(`${received.length} of ${due} transfers of ${wallet} were pushed`);
  }
  if (watcher.ended !== null) reportFault(`the watching WebSocket was closed: ${watcher.ended}`);
  watcher.close();
  const client = new HttpClient(daemon.url, keyOf('watcher').key);
  for (const wallet of expected.wallets) {
    const mismatch = expected.checkTransfers(wallet, await client.get(expected.pathOf(wallet)));
    if (mismatch !== null) reportFault(mismatch);
  }
  for (const [name, { admitted, refused, latencies }] of counts) {
    const rate = Object.entries(RATES).find(([tier]) => name.startsWith(tier))![1];
    const allowed = rate * seconds + rate; // the refill, and the initial contents of the bucket
    const off = admitted / allowed - 1;
    const p99 = quantile(latencies, 0.99);
    console.log(
      `${name}: ${admitted} admitted, ${refused} refused, ${(100 * off).toFixed(2)} % off the limit, p99 ` +
        `${p99.toFixed(1)} ms`,
    );
    if (Math.abs(off) > LIMIT_TOLERANCE)
      reportFault(`${name}: ${admitted} admitted instead of ${Math.round(allowed)}`);
  }
}

/** The counts must equal the admitted calls exactly. */
function checkUsage(): void {
  const db = openKeysFile(join(dir, 'keys.db'));
  const usage = new Map(readUsage(db).map(({ key, requests }) => [key, requests]));
  db.close();
  for (const [name, { admitted }] of counts) {
    const counted = usage.get(keyOf(name).id);
    if (counted !== admitted) reportFault(`${name}: ${admitted} calls were admitted, ${counted} are counted`);
  }
}

function checkMemory(): void {
  console.log(memory.summary);
  const grown = memory.fault();
  if (grown !== null) reportFault(grown);
}

async function stopDaemon(): Promise<void> {
  const code = await daemon.stop();
  if (code !== 0) reportFault(`the daemon ended with ${code}`);
}

async function waitForHead(number: number): Promise<void> {
  await waitUntil(async () => {
    const status = (await (await fetch(`${daemon.url}/status`)).json()) as {
      head: { number: number } | null;
    };
    return status.head?.number === number;
  }, `block ${number} to be indexed`);
}

async function waitUntil(probe: () => boolean | Promise<boolean>, what: string): Promise<void> {
  for (let tries = 0; !(await probe()); tries++) {
    if (tries > 600) throw new Error(`timed out waiting for ${what}`);
    await sleep(100);
  }
}

/**
 * Streams under stress: sockets subscribe, unsubscribe, disconnect and reconnect at random, while blocks arrive, reorgs
 * replace them and the connections to the node are cut every few seconds. In the end nothing may have been missed or
 * notified twice, compared with the index and the chain, and the memory must be flat.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openKeyStore } from '../../src/access/keys.ts';
import { pause } from '../../src/lib/async.ts';
import { Prng } from '../../src/lib/random.ts';
import { openIndexForReading } from '../../src/store/index-file.ts';
import { scriptCleanup } from '../../test/support/cleanup.ts';
import { startGeneratedNode } from '../../test/support/nodes/replay.ts';
import { startTcpProxy } from '../../test/support/nodes/tcp-proxy.ts';
import { LAUNCHER, startDaemon } from '../daemon.ts';
import { MemoryMonitor } from '../memory-monitor.ts';
import { MAX_SEED, readOptions } from '../options.ts';
import { UNSETTLED_BLOCKS } from './streams/checks.ts';
import type { EndedSubscription } from './streams/client.ts';
import { readExpectedState } from './streams/expected-state.ts';
import { SoakClients } from './streams/soak-clients.ts';

const BLOCK_EVERY_MS = 300;
const REORG_EVERY_MS = 4_000;
/** How long a branch lasts. */
const BRANCH_MS = 700;
const CUT_EVERY_MS = 7_000;
const ACTIONS_PER_SECOND = 40;
const SAMPLE_MS = 2_000;
const FIRST_BLOCKS = 50;
/** How long a notification may take on a machine busy with clients, in addition to the notifications before it. */
const DELIVERY_TIMEOUT_MS = 15_000;
const MAX_SHOWN_FAULTS = 20;

const { minutes, sockets, seed } = readOptions(
  'Streams to many sockets while reorgs and broken connections trouble them, and checks that nothing was missed.',
  {
    minutes: { kind: 'decimal', about: 'of trouble', default: 10, range: [1, 1_440] },
    sockets: { kind: 'whole', about: 'clients', default: 1_000, range: [1, 100_000] },
    seed: { kind: 'whole', about: 'of the chain and the clients', default: 1, range: [0, MAX_SEED] },
  },
);
const prng = new Prng(seed);
const owner = scriptCleanup();
const { node, blocks } = await startGeneratedNode(
  owner,
  {
    blocks: FIRST_BLOCKS + Math.ceil((minutes * 60_000) / BLOCK_EVERY_MS) + 100,
    txPerBlock: 25,
    startBlock: 1,
    wallets: 300,
    tokens: 40,
    seed,
  },
  { head: FIRST_BLOCKS, finalizedLag: 128 },
);
const proxy = await startTcpProxy(owner, Number(new URL(node.url).port));
const dir = mkdtempSync(join(tmpdir(), 'atlas-soak-'));
const key = issueKey();
const daemon = await startDaemon(
  LAUNCHER,
  [
    ...['--data-dir', dir, '--log-level', 'error'],
    ...['--node-http', proxy.url, '--node-ws', proxy.url.replace('http', 'ws')],
  ],
  { ATLAS_STREAM__MAX_CONNECTIONS_PER_KEY: '100000' },
);
const memory = new MemoryMonitor(daemon.pid);
const faults: string[] = [];
const ended: EndedSubscription[] = [];
/** When each head appeared. */
const heads: { at: number; number: number }[] = [];
const counts = { reorgs: 0, cuts: 0 };
const clients = createClients();

await clients.openAll();
await runChaos();
await settle();
clients.endAll();
compare();
report();
const exitCode = faults.length === 0 ? 0 : 1; // stopping the daemon closes open connections, which is not a fault
await daemon.stop();
await owner.close();
rmSync(dir, { recursive: true, force: true });
process.exit(exitCode);

/** A key without limits. */
function issueKey(): string {
  const keys = openKeyStore(join(dir, 'keys.db'));
  const issued = keys.create({ name: 'soak', tier: 'unlimited' });
  keys.close();
  return issued.key;
}

function head(): number {
  return node.stats().head;
}

function createClients(): SoakClients {
  const transfers = blocks.slice(0, FIRST_BLOCKS).flatMap((block) => block.transfers);
  return new SoakClients({
    sockets,
    urlOf: (path) => `${daemon.url.replace('http', 'ws')}${path}?api_key=${key}`,
    prng,
    wallets: transfers.flatMap(({ from, to }) => [from, to]),
    tokens: transfers.flatMap(({ token }) => token ?? []),
    head,
    expectedHead: () => heads.findLast(({ at }) => at < Date.now() - DELIVERY_TIMEOUT_MS)?.number ?? 0,
    onEnded: (one) => ended.push(one),
    onFault: (fault) => faults.push(fault),
  });
}

/** Blocks, reorgs, broken connections and busy clients, until the time is up. */
async function runChaos(): Promise<void> {
  const timers = [
    setInterval(() => {
      node.mine(1);
      heads.push({ at: Date.now(), number: head() });
    }, BLOCK_EVERY_MS),
    setInterval(() => {
      counts.cuts++;
      proxy.cut();
    }, CUT_EVERY_MS),
    setInterval(() => {
      clients.doRandomAction().catch((error: unknown) => faults.push(`an action failed: ${String(error)}`));
    }, 1_000 / ACTIONS_PER_SECOND),
    setInterval(() => memory.sample(), SAMPLE_MS),
  ];
  const stop = new AbortController();
  const reorgs = reorganise(stop.signal);
  const end = Date.now() + minutes * 60_000;
  while (Date.now() < end) {
    await sleep(Math.min(60_000, end - Date.now()));
    const left = ((end - Date.now()) / 60_000).toFixed(1);
    console.log(
      `${left} min left: block ${head()}, ${clients.open} sockets, ${clients.events} events, ` +
        `${counts.reorgs} reorgs, ${counts.cuts} cuts, ${memory.latest}, ${faults.length} faults`,
    );
  }
  for (const timer of timers) clearInterval(timer);
  stop.abort();
  await reorgs;
}

/** Occasionally replaces the last blocks, until the signal aborts. The previous branch always wins in the end. */
async function reorganise(signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await pause(REORG_EVERY_MS - BRANCH_MS, signal);
    counts.reorgs++;
    const replaced = node.fork(head() - prng.below(4));
    await sleep(BRANCH_MS);
    node.fork(replaced[0]!.number, replaced); // also restores the rest of the chain
  }
}

/** Waits until everything settles: no block can still be replaced, all are indexed, and all notifications are sent. */
async function settle(): Promise<void> {
  await sleep(2_000);
  node.mine(UNSETTLED_BLOCKS + 2);
  await waitUntilIndexed(head());
  await sleep(3_000);
}

async function waitUntilIndexed(number: number): Promise<void> {
  const db = openIndexForReading(join(dir, 'index.db'));
  const last = db.prepare('SELECT max(number) FROM blocks').pluck();
  for (let tries = 0; Number(last.get()) < number; tries++) {
    if (tries > 600) throw new Error(`the index stays at block ${last.get()}, the node is at ${number}`);
    await sleep(100);
  }
  db.close();
}

function compare(): void {
  const expected = readExpectedState(dir, blocks);
  for (const { check, head: last } of ended) check.verify(last, expected);
  const grown = memory.fault();
  if (grown !== null) faults.push(grown);
}

function report(): void {
  console.log(`${ended.length} subscriptions compared; ${memory.summary}`);
  for (const [fault, times] of countBy(faults).slice(0, MAX_SHOWN_FAULTS))
    console.log(`FAULT ${fault} (${times}x)`);
  console.log(faults.length === 0 ? 'no faults' : `${faults.length} faults`);
}

/** Each value with its number of occurrences, in order of first occurrence. */
function countBy(values: readonly string[]): [string, number][] {
  const times = new Map<string, number>();
  for (const value of values) times.set(value, (times.get(value) ?? 0) + 1);
  return [...times];
}

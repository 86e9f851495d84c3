/**
 * Ten minutes of streams under trouble: 1,000 sockets that subscribe, unsubscribe, go and come back at random, while
 * blocks come, reorgs replace them and the connections to the node are cut every few seconds. In the end nothing may
 * have been missed or told twice, compared with the index and the chain, and the memory must be flat.
 *
 *   node --import tsx scripts/soak-streams.ts [minutes] [sockets] [seed]
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { openKeyStore } from '../src/access/keys.ts';
import { generateChain } from '../src/bench/chain/generate.ts';
import { Prng } from '../src/bench/chain/prng.ts';
import type { ReplayNode } from '../src/bench/replay/controls.ts';
import { startReplayNode } from '../src/bench/replay/node.ts';
import { parseConfig } from '../src/config.ts';
import { startDaemon } from '../src/daemon.ts';
import { pause } from '../src/lib/backoff.ts';
import { createLogger } from '../src/log.ts';
import { openIndexForReading } from '../src/store/index-file.ts';
import { RUNTIME_FLAGS } from './runtime-flags.ts';
import { HeadCheck, LogCheck, TransferCheck, UNSETTLED_BLOCKS } from './soak/checks.ts';
import { type Ended, SoakClient } from './soak/client.ts';
import { startProxy } from './soak/proxy.ts';
import { readTruth } from './soak/truth.ts';

const BLOCK_EVERY_MS = 300;
const REORG_EVERY_MS = 4_000;
/** How long a branch lasts. */
const BRANCH_MS = 700;
const CUT_EVERY_MS = 7_000;
const ACTIONS_PER_SECOND = 40;
const FIRST_BLOCKS = 50;
const MAX_SUBSCRIPTIONS = 4;
/** Memory counts as flat when the last third needs at most so much more than the one before. */
const FLAT = 1.1;
/** How long a notification may take on a machine that is busy with clients, beside what comes in order before it. */
const LATE_MS = 15_000;
const MAX_SHOWN_FAULTS = 20;

const [role = '10', ...rest] = process.argv.slice(2);
if (role === 'daemon') await serve(rest[0] ?? '', rest[1] ?? '');
else await soak(Number(role), Number(rest[0] ?? 1_000), Number(rest[1] ?? 1));

async function soak(minutes: number, sockets: number, seed: number): Promise<void> {
  const prng = new Prng(seed);
  const count = FIRST_BLOCKS + Math.ceil((minutes * 60_000) / BLOCK_EVERY_MS) + 100;
  const chain = generateChain({
    blocks: count,
    txPerBlock: 25,
    startBlock: 1,
    wallets: 300,
    tokens: 40,
    seed,
  });
  const blocks = [...chain.blocks];
  const node = await startReplayNode({ chain: blocks, head: FIRST_BLOCKS, chainId: chain.options.chainId });
  const proxy = await startProxy(node.url);
  const dir = mkdtempSync(join(tmpdir(), 'atlas-soak-'));
  const daemon = await startDaemonProcess(dir, proxy.url);
  const faults: string[] = [];
  const ended: Ended[] = [];
  const wallets = blocks
    .slice(0, FIRST_BLOCKS)
    .flatMap(({ transfers }) => transfers.flatMap(({ from, to }) => [from, to]));
  const tokens = blocks
    .slice(0, FIRST_BLOCKS)
    .flatMap(({ transfers }) => transfers.flatMap(({ token }) => token ?? []));
  const pick = <T>(list: readonly T[]): T => list[prng.below(list.length)]!;
  const head = () => node.stats().head;
  /** Since when each head was there. */
  const heads: { at: number; number: number }[] = [];
  const headBefore = () => heads.findLast(({ at }) => at < Date.now() - LATE_MS)?.number ?? 0;

  const clients = Array.from({ length: sockets }, (_, i) => {
    const signals = i % 8 === 7;
    const url = `ws://127.0.0.1:${daemon.port}${signals ? '/ws/signals' : '/ws'}?api_key=${daemon.key}`;
    const onFault = (fault: string) => faults.push(fault);
    return {
      signals,
      client: new SoakClient({ url, head: headBefore, onEnded: (one) => ended.push(one), onFault }),
    };
  });
  type One = (typeof clients)[number];

  /** Makes one subscription of a random kind. */
  const subscribe = async ({ client, signals }: One): Promise<void> => {
    const onFault = (fault: string) => faults.push(fault);
    const since = head();
    const fromBlock = prng.below(3) === 0 ? undefined : 1 + prng.below(since + 3);
    if (signals) {
      const chosen = [...new Set([pick(wallets), pick(wallets), pick(wallets)])];
      const options = {
        wallets: chosen,
        since: fromBlock ?? since,
        replayed: fromBlock !== undefined,
        signals: true,
      };
      return client.subscribe(
        'atlas_subscribe',
        { wallets: chosen, fromBlock },
        () => new TransferCheck(options, onFault),
      );
    }
    const kind = prng.below(100);
    if (kind < 30) return client.subscribe('eth_subscribe', ['newHeads'], () => new HeadCheck(onFault));
    if (kind < 50) {
      const address = kind < 32 ? null : pick(tokens);
      const filter = address === null ? {} : { address };
      return client.subscribe('eth_subscribe', ['logs', filter], () => new LogCheck(address, since, onFault));
    }
    const address = pick(wallets);
    const options = {
      wallets: [address],
      since: fromBlock ?? since,
      replayed: fromBlock !== undefined,
      signals: false,
    };
    return client.subscribe(
      'eth_subscribe',
      ['wallet_transfers', { address, fromBlock }],
      () => new TransferCheck(options, onFault),
    );
  };

  const act = async (): Promise<void> => {
    const one = pick(clients);
    const { client, signals } = one;
    if (!client.isOpen) return client.open();
    const kind = prng.below(10);
    const ids = [...client.subscriptions.keys()];
    if (kind === 0) return client.leave(prng.below(2) === 0);
    if (kind < 4 && ids.length > 0)
      return client.unsubscribe(signals ? 'atlas_unsubscribe' : 'eth_unsubscribe', pick(ids));
    if (ids.length < MAX_SUBSCRIPTIONS) return subscribe(one);
  };

  for (let i = 0; i < clients.length; i += 50) {
    await Promise.all(clients.slice(i, i + 50).map(({ client }) => client.open()));
  }
  await Promise.all(clients.map(subscribe));
  const counts = { reorgs: 0, cuts: 0, actions: 0 };
  const memory: number[] = [];
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
      counts.actions++;
      act().catch((error: unknown) => faults.push(`an action failed: ${String(error)}`));
    }, 1_000 / ACTIONS_PER_SECOND),
    setInterval(() => memory.push(residentMiB(daemon.pid)), 2_000),
  ];
  const stop = new AbortController();
  const depth = () => {
    counts.reorgs++;
    return prng.below(4);
  };
  const reorgs = reorganise(node, depth, stop.signal);
  const began = Date.now();
  while (Date.now() - began < minutes * 60_000) {
    await sleep(Math.min(60_000, began + minutes * 60_000 - Date.now()));
    const events = clients.reduce((sum, { client }) => sum + client.events, 0);
    const open = clients.filter(({ client }) => client.isOpen).length;
    console.log(
      `${((Date.now() - began) / 60_000).toFixed(1)} min: block ${head()}, ${open} sockets, ${events} events, ` +
        `${counts.reorgs} reorgs, ${counts.cuts} cuts, ${memory.at(-1)} MiB, ${faults.length} faults`,
    );
  }
  for (const timer of timers) clearInterval(timer);
  stop.abort();
  await reorgs;
  await sleep(2_000);
  node.mine(UNSETTLED_BLOCKS + 2);
  await indexed(join(dir, 'index.db'), head());
  await sleep(3_000);
  for (const { client } of clients) client.endAll();
  const truth = readTruth(join(dir, 'index.db'), blocks);
  for (const { check, head: last } of ended) check.end(last, truth);

  const third = Math.floor(memory.length / 3);
  const [middle, last] = [median(memory.slice(third, 2 * third)), median(memory.slice(2 * third))];
  console.log(
    `${ended.length} subscriptions compared; memory ${memory[0]} MiB at first, ${middle} in the middle third, ${last} in the last`,
  );
  if (last > middle * FLAT) faults.push(`memory grew from ${middle} to ${last} MiB`);
  for (const [fault, times] of countBy(faults).slice(0, MAX_SHOWN_FAULTS))
    console.log(`FAULT ${fault} (${times}x)`);
  console.log(faults.length === 0 ? 'no faults' : `${faults.length} faults`);
  daemon.stop();
  proxy.close();
  await node.close();
  rmSync(dir, { recursive: true, force: true });
  process.exit(faults.length === 0 ? 0 : 1);
}

/** Replaces the last blocks now and then, until the signal aborts. The branch from before always wins after all. */
async function reorganise(node: ReplayNode, depth: () => number, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await pause(REORG_EVERY_MS - BRANCH_MS, signal);
    const replaced = node.fork(node.stats().head - depth());
    await sleep(BRANCH_MS);
    node.fork(replaced[0]!.number, replaced); // with it the rest of the chain comes back
  }
}

async function startDaemonProcess(dir: string, nodeUrl: string) {
  // As the launcher starts it: a loader of TypeScript would be part of the memory that is watched.
  const stripTypes = fileURLToPath(new URL('../bin/strip-types.cjs', import.meta.url));
  const child = fork(fileURLToPath(import.meta.url), ['daemon', dir, nodeUrl], {
    execArgv: ['--disable-warning=ExperimentalWarning', ...RUNTIME_FLAGS, '--require', stripTypes],
  });
  const [{ port, key }] = (await once(child, 'message')) as [{ port: number; key: string }];
  return { pid: child.pid ?? 0, port, key, stop: () => child.kill() };
}

async function serve(dir: string, nodeUrl: string): Promise<void> {
  mkdirSync(dir, { recursive: true });
  const { config } = parseConfig({
    env: { ATLAS_STREAM__MAX_CONNECTIONS_PER_KEY: '100000' },
    flags: {
      '--data-dir': dir,
      '--port': '0',
      '--node-http': nodeUrl,
      '--node-ws': nodeUrl.replace('http', 'ws'),
    },
  });
  const keys = openKeyStore(join(dir, 'keys.db'));
  const { key } = keys.create({ name: 'soak', tier: 'unlimited' });
  keys.close();
  const daemon = await startDaemon(config, { log: createLogger({ level: 'error', format: 'pretty' }) });
  process.on('SIGTERM', () => void daemon.close().then(() => process.exit(0)));
  process.send?.({ port: Number(new URL(daemon.url).port), key });
}

async function indexed(path: string, number: number): Promise<void> {
  const db = openIndexForReading(path);
  const last = db.prepare('SELECT max(number) FROM blocks').pluck();
  for (let tries = 0; Number(last.get()) < number; tries++) {
    if (tries > 600) throw new Error(`the index stays at block ${last.get()}, the node is at ${number}`);
    await sleep(100);
  }
  db.close();
}

/** The values with how often they occur, in the order of their first occurrence. */
function countBy(values: readonly string[]): [string, number][] {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts];
}

function residentMiB(pid: number): number {
  const [, kib] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Math.round(Number(kib) / 1024);
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0;
}

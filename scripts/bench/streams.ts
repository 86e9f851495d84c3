/**
 * Streams with 1,000 sockets: fan-out of a head against bare uWebSockets.js publish, commit to client socket, and the
 * memory of the daemon meanwhile.
 * Server and load run on different cores, the two sides of a ratio in turns.
 *
 *   node --import tsx scripts/bench/streams.ts [sockets] [rounds]
 */
import { type ChildProcess, execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { openKeyStore } from '../../src/access/keys.ts';
import type { GeneratedBlock } from '../../src/bench/chain/block.ts';
import { generateChain } from '../../src/bench/chain/generate.ts';
import { peakMegabytes } from '../../src/bench/process/usage.ts';
import { startReplayNode } from '../../src/bench/replay/node.ts';
import { parseConfig } from '../../src/config.ts';
import { startDaemon } from '../../src/daemon.ts';
import { StreamHub } from '../../src/stream/hub.ts';
import type { Watermark } from '../../src/types.ts';
import { openSockets, type Receipt } from './stream-sockets.ts';

const HEADS_PER_ROUND = 40;
const HEAD_EVERY_MS = 40;
const BLOCKS = 120;
const BLOCK_EVERY_MS = 200;
const TX_PER_BLOCK = 200;
const SERVER_CORE = 0;
const LOAD_CORE = 1;
/** As long as a header of a chain is, with its bloom. */
const BARE_BYTES = 1_700;

/** What the parent asks of a server. */
type Order = { kind: 'publish' };
/** What a server tells its parent. */
type Report = { kind: 'up'; port: number; key: string } | { kind: 'committed'; to: number; at: number };

const [role = 'main', ...options] = process.argv.slice(2);
if (role === 'serve') await serve(options[0] ?? '');
else if (role === 'bare') bare();
else await main(Number(role === 'main' ? 1_000 : role), Number(options[0] ?? 5));

async function main(count: number, rounds: number): Promise<void> {
  pin(process.pid, String(LOAD_CORE));
  console.log(
    `${count} sockets, ${rounds} rounds; server on core ${SERVER_CORE}, node and clients on core ${LOAD_CORE}`,
  );
  if (rounds > 0) await fanOut(count, rounds);
  await commitToSocket(count);
  process.exit(0);
}

/** Milliseconds of processor time of the serving thread per head, and from the first socket's receipt to the last one's. */
interface FanOut {
  cpu: number;
  span: number;
}

async function fanOut(count: number, rounds: number): Promise<void> {
  const heads = rounds * HEADS_PER_ROUND;
  const chain = generateChain({ blocks: heads + 20, txPerBlock: 1, startBlock: 1 });
  const node = await startReplayNode({ chain: chain.blocks, head: 5, chainId: chain.options.chainId });
  const atlas = await startServer('serve', JSON.stringify({ http: node.url, ws: node.wsUrl }));
  const plain = await startServer('bare', '');
  const ours = await openSockets(atlas.port, `/ws?api_key=${atlas.key}`, count, () => subscribe('newHeads'));
  const theirs = await openSockets(plain.port, '/', count);
  const results: Record<'atlas' | 'bare', FanOut[]> = { atlas: [], bare: [] };
  for (let round = 0; round < rounds; round++) {
    results.atlas.push(await oneRound(atlas.child, ours.receipts, count, () => node.mine(1)));
    results.bare.push(
      await oneRound(plain.child, theirs.receipts, count, () =>
        plain.child.send({ kind: 'publish' } satisfies Order),
      ),
    );
  }
  for (const [name, runs] of Object.entries(results)) {
    console.log(
      `${name.padEnd(6)} ${describe(runs.map(({ cpu }) => cpu))} ms CPU per head, ${describe(runs.map(({ span }) => span))} ms from first to last socket`,
    );
  }
  const ratio = (of: (run: FanOut) => number) =>
    results.bare.map((run, i) => of(run) / of(results.atlas[i]!));
  console.log(
    `bare / atlas: CPU ${describe(ratio(({ cpu }) => cpu))}, span ${describe(ratio(({ span }) => span))}`,
  );
  for (const end of [ours, theirs]) end.close();
  atlas.child.kill();
  plain.child.kill();
  await node.close();
}

async function oneRound(
  server: ChildProcess,
  receipts: Receipt[],
  count: number,
  trigger: () => void,
): Promise<FanOut> {
  const spans: number[] = [];
  const before = mainThreadMs(server.pid ?? 0);
  for (let i = 0; i < HEADS_PER_ROUND; i++) {
    receipts.length = 0;
    trigger();
    const deadline = Date.now() + 10_000;
    while (receipts.length < count) {
      if (Date.now() > deadline) throw new Error(`${receipts.length} of ${count} sockets got the head`);
      await sleep(2);
    }
    spans.push(receipts.at(-1)!.at - receipts[0]!.at);
    await sleep(HEAD_EVERY_MS);
  }
  return { cpu: (mainThreadMs(server.pid ?? 0) - before) / HEADS_PER_ROUND, span: median(spans) };
}

/** Each socket watches a wallet of its own; blocks of an ordinary busy chain are committed. */
async function commitToSocket(count: number): Promise<void> {
  const chain = generateChain({
    blocks: BLOCKS + 40,
    txPerBlock: TX_PER_BLOCK,
    startBlock: 1,
    wallets: count,
  });
  const blocks = [...chain.blocks];
  const transfers = blocks.flatMap((block) => block.transfers);
  const seen = [...new Set(transfers.flatMap(({ from, to }) => [from, to]))];
  const busy = countBy(transfers.flatMap(({ from, to }) => [from, to]));
  const anyone = Array.from({ length: count }, (_, i) => seen[Math.floor((i * seen.length) / count)]!);
  await commits(`any ${count} of ${seen.length} wallets`, blocks, chain.options.chainId, anyone);
  await commits(`the ${count} busiest wallets`, blocks, chain.options.chainId, busy.slice(0, count));
}

async function commits(
  what: string,
  blocks: GeneratedBlock[],
  chainId: number,
  wallets: string[],
): Promise<void> {
  const node = await startReplayNode({ chain: blocks, head: 20, chainId });
  // Not pinned: the writer is meant to have a core of its own while blocks come.
  const atlas = await startServer('serve', JSON.stringify({ http: node.url, ws: node.wsUrl }), false);
  const committed = new Map<number, number>();
  atlas.child.on('message', (report: Report) => {
    if (report.kind === 'committed') committed.set(report.to, report.at);
  });
  await until(() => committed.has(20), 'the first blocks in the index');
  const sockets = await openSockets(atlas.port, `/ws?api_key=${atlas.key}`, wallets.length, (i) =>
    subscribe('wallet_transfers', { address: wallets[i] }),
  );
  for (let i = 0; i < BLOCKS; i++) {
    node.mine(1);
    await sleep(BLOCK_EVERY_MS);
  }
  await until(() => committed.has(20 + BLOCKS), 'all blocks in the index');
  await sleep(500);
  const latencies = sockets.receipts.flatMap(({ text, at }) => {
    const since = committed.get(JSON.parse(text).params?.result.blockNumber);
    return since === undefined ? [] : at - since;
  });
  console.log(
    `commit to socket, ${what}: p50 ${quantile(latencies, 0.5)} ms, p90 ${quantile(latencies, 0.9)} ms, ` +
      `p99 ${quantile(latencies, 0.99)} ms (${Math.round(latencies.length / BLOCKS)} notifications a block); ` +
      `at most ${peakMegabytes(atlas.child.pid ?? 0).toFixed(0)} MB`,
  );
  sockets.close();
  atlas.child.kill();
  await node.close();
}

/** The values, the most frequent first. */
function countBy(values: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].sort(([, a], [, b]) => b - a).map(([value]) => value);
}

async function until(condition: () => boolean, what: string): Promise<void> {
  for (const deadline = Date.now() + 60_000; !condition(); ) {
    if (Date.now() > deadline) throw new Error(`waited in vain for ${what}`);
    await sleep(20);
  }
}

function subscribe(...params: unknown[]): string {
  return JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_subscribe', params });
}

async function startServer(name: 'serve' | 'bare', options: string, pinned = true) {
  const child = fork(fileURLToPath(import.meta.url), [name, options], {
    execArgv: ['--disable-warning=ExperimentalWarning'], // as the daemon is started, with no loader that takes memory
  });
  const [report] = (await once(child, 'message')) as [Report];
  if (report.kind !== 'up') throw new Error(`${name} did not start`);
  pin(child.pid ?? 0, pinned ? String(SERVER_CORE) : `${SERVER_CORE},${LOAD_CORE}`);
  return { child, port: report.port, key: report.key };
}

/** The daemon, telling its parent of each commit. */
async function serve(text: string): Promise<void> {
  const { http, ws }: { http: string; ws: string } = JSON.parse(text);
  const dir = mkdtempSync(join(tmpdir(), 'atlas-bench-'));
  process.on('exit', () => rmSync(dir, { recursive: true, force: true }));
  process.on('SIGTERM', () => process.exit(0));
  const onWatermark = StreamHub.prototype.onWatermark;
  StreamHub.prototype.onWatermark = function (mark: Watermark) {
    onWatermark.call(this, mark);
    if (mark.kind === 'committed') tell({ kind: 'committed', to: mark.to, at: mark.committedAt });
  };
  const { config } = parseConfig({
    env: { ATLAS_STREAM__MAX_CONNECTIONS_PER_KEY: '100000' },
    flags: { '--data-dir': dir, '--port': '0', '--node-http': http, '--node-ws': ws },
  });
  const keys = openKeyStore(join(dir, 'keys.db'));
  const { key } = keys.create({ name: 'bench', tier: 'unlimited' });
  keys.close();
  const log = { debug() {}, info() {}, warn: console.error, error: console.error };
  const daemon = await startDaemon(config, { log });
  tell({ kind: 'up', port: Number(new URL(daemon.url).port), key });
}

/** The same messages by the library alone. */
function bare(): void {
  const uws: typeof import('uWebSockets.js') = createRequire(import.meta.url)('uWebSockets.js');
  const message = Buffer.alloc(BARE_BYTES, 'x');
  const app = uws
    .App()
    .ws('/*', { maxBackpressure: 64 * 2 ** 20, open: (socket) => void socket.subscribe('heads') });
  app.listen('127.0.0.1', 0, (socket) => {
    if (socket === false) throw new Error('cannot listen');
    tell({ kind: 'up', port: uws.us_socket_local_port(socket), key: '' });
  });
  process.on('message', () => app.publish('heads', message, false));
  process.on('SIGTERM', () => process.exit(0));
}

function tell(report: Report): void {
  process.send?.(report);
}

/** Processor time of a process's first thread. */
function mainThreadMs(pid: number): number {
  const [, nanoseconds] = /^(\d+)/.exec(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8')) ?? [];
  return Number(nanoseconds) / 1e6;
}

function pin(pid: number, cores: string): void {
  execFileSync('taskset', ['-acp', cores, String(pid)], { stdio: 'ignore' });
}

function quantile(values: readonly number[], part: number): string | undefined {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length * part)]?.toFixed(2);
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}

/** Median with the spread. */
function describe(values: readonly number[]): string {
  const sorted = [...values].sort((a, b) => a - b);
  return `${median(values).toFixed(2)} (${sorted[0]?.toFixed(2)}..${sorted.at(-1)?.toFixed(2)})`;
}

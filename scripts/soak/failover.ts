/**
 * A daemon between clients and an anvil that it reaches through two relays. The first relay is killed, frozen and made
 * late again and again under load over REST, /rpc and /ws. See `--help`.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Hex, keccak256 } from 'viem';
import { openKeyStore } from '../../src/access/keys.ts';
import { type Anvil, startAnvil } from '../../src/dev/anvil.ts';
import { deployDemo } from '../../src/dev/deploy.ts';
import { generateTraffic } from '../../src/dev/traffic.ts';
import { freshWallet } from '../../src/dev/wallets.ts';
import { isObject } from '../../src/lib/text.ts';
import { scriptCleanup } from '../../test/support/cleanup.ts';
import { SOURCE_FLAGS } from '../../test/support/daemon/command.ts';
import { freePort } from '../../test/support/free-port.ts';
import { dumpIndex } from '../../test/support/index/dump.ts';
import { startIndexer } from '../../test/support/index/indexer.ts';
import { waitFor } from '../../test/support/wait.ts';
import { LAUNCHER, startDaemon } from '../daemon.ts';
import { readOptions } from '../options.ts';
import { HttpClient, WsClient } from './load/clients.ts';

const { faults: rounds, readers } = readOptions(
  'Kills, freezes and delays the first of two nodes in turn, under load, and checks that the daemon moves ' +
    'on and back: no failed read, no head that falls, no transaction sent twice, the index as of an ' +
    'undisturbed daemon.',
  {
    faults: {
      kind: 'whole',
      about: 'faults, each with a move to the second node and back',
      default: 12,
      range: [1, 10_000],
    },
    readers: { kind: 'whole', about: 'clients that read without a pause', default: 6, range: [1, 200] },
  },
);

const BLOCK_TIME_MS = 400;
const QUIET_SECONDS = 2;
const RELAY = resolve(import.meta.dirname, 'failover/relay.ts');
const MAX_SHOWN = 20;

const problems: string[] = [];
const cleanup = scriptCleanup();

/** One node of the daemon. */
class Relay {
  readonly url: string;
  private readonly target: string;
  private readonly port: number;
  private child: ChildProcess | undefined;

  constructor(target: string, port: number) {
    this.target = target;
    this.port = port;
    this.url = `http://127.0.0.1:${port}`;
  }

  async start(): Promise<void> {
    const child = fork(RELAY, [this.target, String(this.port)], { execArgv: SOURCE_FLAGS });
    this.child = child;
    child.on('message', (message) => {
      if (isObject(message) && typeof message['body'] === 'string') noteSent(message['body']);
    });
    await once(child, 'message');
  }

  /** While late it shows no new block. */
  set isLate(isLate: boolean) {
    this.child?.send({ isLate });
  }

  signal(name: NodeJS.Signals): void {
    this.child?.kill(name);
  }
}

/** How often each transaction was sent to a relay. */
const sent = new Map<string, number>();

function noteSent(body: string): void {
  for (const [raw] of body.matchAll(/0x02[0-9a-f]{100,}/g)) sent.set(raw, (sent.get(raw) ?? 0) + 1);
}

interface NodeState {
  node: number;
  current: boolean;
}

async function nodeInUse(url: string): Promise<number> {
  const { nodes } = (await (await fetch(`${url}/status`)).json()) as { nodes: NodeState[] };
  return nodes.find(({ current }) => current)?.node ?? 0;
}

/** Resolves with the milliseconds until the node is in use. */
async function moves(url: string, node: number): Promise<number> {
  const since = performance.now();
  await waitFor(async () => (await nodeInUse(url)) === node, {
    what: `node ${node} to be used`,
    everyMs: 10,
  });
  return performance.now() - since;
}

/** Reads until `signal` aborts; resolves with the number of answers. */
async function read(url: string, key: string, hash: string, signal: AbortSignal): Promise<number> {
  const http = new HttpClient(url, key);
  const socket = new WsClient(url, key);
  await socket.opened();
  let answers = 0;
  let head = 0;
  const seen = (number: unknown, where: string): void => {
    const height = Number(number);
    if (!(height >= head)) problems.push(`${where}: the head fell from ${head} to ${String(number)}`);
    head = Math.max(head, height);
  };
  const over = async (where: string, answer: Promise<{ result?: unknown; error?: unknown }>) => {
    const { result, error } = await answer;
    answers++;
    if (error === undefined && result !== null && result !== undefined) return result;
    problems.push(`${where} answered ${JSON.stringify(error ?? result)}`);
    return undefined;
  };
  const rpc = async (method: string, params: unknown[]) => {
    const { status, body } = await http.rpc(method, params);
    return status === 200 ? (body as { result?: unknown }) : { error: { status, body } };
  };
  while (!signal.aborted) {
    const number = await over('/rpc eth_blockNumber', rpc('eth_blockNumber', []));
    if (number !== undefined) seen(number, '/rpc');
    const block = await over(
      '/ws eth_getBlockByNumber',
      socket.call('eth_getBlockByNumber', ['latest', false]),
    );
    if (isObject(block)) seen(block['number'], '/ws');
    await over('/rpc eth_getTransactionReceipt', rpc('eth_getTransactionReceipt', [hash]));
    await over('/ws eth_getBalance', socket.call('eth_getBalance', [READ_WALLET, 'latest']));
    const { status } = await http.get(`/api/transaction_transfers?tx=${hash}`);
    answers++;
    if (status !== 200) problems.push(`REST answered ${status}`);
    await sleep(5);
  }
  socket.close();
  return answers;
}

/** Sends transactions through the daemon until `signal` aborts. Never resends an unanswered one. */
async function send(anvil: Anvil, url: string, key: string, signal: AbortSignal) {
  const http = new HttpClient(url, key);
  await anvil.call('anvil_setBalance', [SENDER.address, '0xffffffffffffffffffff']);
  const chainId = Number(await anvil.call('eth_chainId'));
  const counts = { accepted: 0, withoutAnswer: 0 };
  for (let i = 0; !signal.aborted; i++) {
    const nonce = Number(await anvil.call('eth_getTransactionCount', [SENDER.address, 'pending']));
    const raw = await SENDER.signTransaction({
      type: 'eip1559',
      chainId,
      nonce,
      to: READ_WALLET,
      value: BigInt(i + 1),
      gas: 21_000n,
      maxFeePerGas: 100_000_000_000n,
    });
    const { body } = await http.rpc('eth_sendRawTransaction', [raw]);
    const isAccepted = isObject(body) && body['result'] === keccak256(raw);
    counts[isAccepted ? 'accepted' : 'withoutAnswer']++;
    await sleep(50);
  }
  return counts;
}

/** Starts and ends a fault of the first node. */
const FAULTS: Record<string, (first: Relay) => () => void | Promise<void>> = {
  killed(first) {
    first.signal('SIGKILL');
    return () => first.start();
  },
  frozen(first) {
    first.signal('SIGSTOP');
    return () => first.signal('SIGCONT');
  },
  late(first) {
    first.isLate = true;
    return () => {
      first.isLate = false;
    };
  },
};

const SENDER = freshWallet('failover sender');
const READ_WALLET = freshWallet('failover receiver').address;

async function run(dir: string): Promise<void> {
  const anvil = await startAnvil({ manual: true });
  cleanup.after(() => anvil.stop());
  const contracts = await deployDemo(anvil.url, { mine: true });
  const relays = await Promise.all(
    [freePort(), freePort()].map(async (port) => new Relay(anvil.url, await port)),
  );
  for (const relay of relays) {
    await relay.start();
    cleanup.after(() => relay.signal('SIGKILL'));
  }
  const [first] = relays;
  if (first === undefined) throw new Error('there is no relay');
  const keys = openKeyStore(join(dir, 'keys.db'));
  const { key } = keys.create({ name: 'failover', tier: 'unlimited' });
  keys.close();
  const addresses = relays.map(({ url }) => url).join();
  const daemon = await startDaemon(
    LAUNCHER,
    [
      ...['--data-dir', dir, '--log-level', 'error'],
      ...['--node-http', addresses, '--node-ws', addresses.replaceAll('http', 'ws')],
    ],
    {
      ATLAS_NODE__QUIET_SECONDS: String(QUIET_SECONDS),
      ATLAS_STREAM__MAX_CONNECTIONS_PER_KEY: String(readers + 1),
    },
  );
  cleanup.after(async () => void (await daemon.stop()));
  await moves(daemon.url, 1);

  const stop = new AbortController();
  const mining = mine(anvil, stop.signal);
  const traffic = generateTraffic(anvil.url, contracts, { roundPauseMs: 500, signal: stop.signal });
  const head = async () => Number(await anvil.call('eth_blockNumber'));
  const hash = await firstTransaction(anvil);
  await waitFor(async () => (await status(daemon.url)).head >= 2, { what: 'the first blocks' });
  const heads: number[] = [];
  const watcher = new WsClient(daemon.url, key);
  await watcher.opened();
  await watcher.subscribe(['newHeads'], (header) => {
    if (isObject(header)) heads.push(Number(header['number']));
  });
  const loops = Array.from({ length: readers }, () => read(daemon.url, key, hash, stop.signal));
  const sending = send(anvil, daemon.url, key, stop.signal);

  const names = Object.keys(FAULTS);
  const away: Record<string, number[]> = Object.fromEntries(names.map((name) => [name, []]));
  const back: number[] = [];
  for (let i = 0; i < rounds; i++) {
    const name = names[i % names.length] ?? '';
    const end = FAULTS[name]?.(first);
    away[name]?.push(await moves(daemon.url, 2));
    await sleep(500);
    await end?.();
    back.push(await moves(daemon.url, 1));
    await sleep(500);
  }
  stop.abort();
  await Promise.all([traffic, mining]);
  const answers = (await Promise.all(loops)).reduce((sum, count) => sum + count, 0);
  const { accepted, withoutAnswer } = await sending;
  const end = await head();
  await waitFor(async () => (await status(daemon.url)).head >= end, { what: `the index to reach ${end}` });
  await waitFor(() => (heads.at(-1) ?? 0) >= end, { what: `the head ${end} on /ws` });
  watcher.close();
  heads.forEach((number, i) => {
    if (i > 0 && number !== (heads[i - 1] ?? 0) + 1)
      problems.push(`newHeads: ${heads[i - 1]}, then ${number}`);
  });
  for (const [raw, times] of sent)
    if (times > 1) problems.push(`${keccak256(raw as Hex)} was sent ${times} times`);
  await daemon.stop();
  const compared = await compareIndex(anvil, dir, end);

  for (const name of names) console.log(`${name}: moved on after ${range(away[name] ?? [])}`);
  console.log(`moved back after ${range(back)}, quiet time ${QUIET_SECONDS} s`);
  console.log(`${answers} reads, ${heads.length} heads, each once and in order`);
  console.log(`${sent.size} transactions, ${accepted} accepted, ${withoutAnswer} without an answer`);
  console.log(compared);
}

async function mine(anvil: Anvil, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await anvil.call('evm_mine');
    await sleep(BLOCK_TIME_MS);
  }
}

async function status(url: string): Promise<{ head: number }> {
  const { head } = (await (await fetch(`${url}/status`)).json()) as {
    head: number | { number: number } | null;
  };
  return { head: typeof head === 'number' ? head : (head?.number ?? -1) };
}

async function firstTransaction(anvil: Anvil): Promise<string> {
  const block = await anvil.call('eth_getBlockByNumber', ['0x1', false]);
  const hashes = isObject(block) && Array.isArray(block['transactions']) ? block['transactions'] : [];
  return String(hashes[0]);
}

/** Stops the daemon and compares its index with an index built without faults. */
async function compareIndex(anvil: Anvil, dir: string, end: number): Promise<string> {
  const fresh = join(dir, 'fresh');
  mkdirSync(fresh);
  const undisturbed = startIndexer(cleanup, { http: anvil.url, dir: fresh });
  await undisturbed.reaches(end);
  const expected = dumpIndex(undisturbed.path);
  const actual = dumpIndex(join(dir, 'index.db'));
  const known = new Set(expected);
  const wrong = actual.filter((row) => !known.has(row));
  if (wrong.length > 0 || actual.length !== expected.length)
    problems.push(
      `the index differs: ${actual.length} rows instead of ${expected.length}; ${wrong.slice(0, 5).join('; ')}`,
    );
  return `${actual.length} rows of the index up to block ${end} compared with an undisturbed one`;
}

function range(values: readonly number[]): string {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  return `${least.toFixed(0)} to ${most.toFixed(0)} ms (${values.length} times)`;
}

const dir = mkdtempSync(join(tmpdir(), 'atlas-failover-'));
try {
  await run(dir);
} finally {
  await cleanup.close();
}
for (const problem of problems.slice(0, MAX_SHOWN)) console.error(problem);
if (problems.length > 0) {
  console.error(`${problems.length} problems; files in ${dir}`);
  process.exitCode = 1;
} else rmSync(dir, { recursive: true });

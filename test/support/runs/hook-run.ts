/**
 * A real daemon that delivers webhooks to real receivers, good and bad, while it is killed repeatedly and its chain is
 * reorganised. In the end nothing may be missing, and repeated events must have the same id.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { GeneratedBlock } from '../../../scripts/simulator/chain/block.ts';
import { generateChain } from '../../../scripts/simulator/chain/generate.ts';
import type { ReplayNode } from '../../../scripts/simulator/replay/controls.ts';
import { parseHookSpec } from '../../../src/hooks/hook-spec.ts';
import { openHookStore } from '../../../src/hooks/hook-store.ts';
import { randomSource } from '../chain/random-chain.ts';
import { scriptCleanup } from '../cleanup.ts';
import { PROGRAM } from '../daemon/command.ts';
import { type DaemonProcess, daemonProcess } from '../daemon/daemon-process.ts';
import { ZERO_ADDRESS } from '../index/index-fixture.ts';
import { indexedTransfers, isSignal } from '../index/index-rows.ts';
import { resultOf, startNode } from '../nodes/replay.ts';
import { waitFor } from '../wait.ts';
import { HookReceiver, hangs, keptEvents } from './hook-receiver.ts';

interface HookRunOptions {
  seed: number;
  kills: number;
  /** Folder for all files. */
  dir: string;
  /** Longest run of a daemon, milliseconds. */
  lifeMs: number;
  blockEveryMs: number;
  onKill?(kill: number, events: number): void;
}

interface HookRunResult {
  /** Distinct events that the receivers have in the end. */
  events: number;
  /** Repeated deliveries, and withdrawals. */
  repeated: number;
  withdrawn: number;
}

const FIRST_BLOCKS = 40;
const MAX_BLOCKS = 1_000_000;
const MAX_REORG = 6;
/** Finality passes each fork soon. */
const FINALIZED_LAG = MAX_REORG + 2;
/** Blocks that the absent receiver misses from a fork on: the other branch is final when it returns. */
const AWAY_BLOCKS = 3 * FINALIZED_LAG;
const SETTLE_MS = 600_000;
/** Share of requests that the flaky receiver refuses, loses or leaves hanging. */
const FLAKINESS = 0.2;

export async function runHooks(options: HookRunOptions): Promise<HookRunResult> {
  const { seed, kills, dir, lifeMs, blockEveryMs, onKill } = options;
  const random = randomSource(seed * 7_919);
  // Blocks are generated as they are mined: a fork rewrites every block above it, known to the node or not.
  const supply = generateChain({ seed, blocks: MAX_BLOCKS, txPerBlock: 8, wallets: 50, tokens: 12 });
  const blocks = supply.blocks[Symbol.iterator]();
  const chain = Array.from({ length: FIRST_BLOCKS }, () => nextBlock(blocks));
  const owner = scriptCleanup();
  const node = await startNode(owner, { chain, finalizedLag: FINALIZED_LAG });
  try {
    const [good, flaky, absent, dead] = [
      await HookReceiver.start(owner),
      await HookReceiver.start(owner),
      await HookReceiver.start(owner),
      await HookReceiver.start(owner),
    ];
    dead.stop();
    makeFlaky(flaky, random);
    const absence = makeAbsent(absent);
    const hooksPath = join(dir, 'hooks.db');
    createHooks(hooksPath, [good, flaky, absent, dead]);
    const retryAbsent = () =>
      openHookStoreAnd(hooksPath, (store) =>
        store.db.prepare('UPDATE hooks SET next_attempt_at = NULL WHERE url = ?').run(absent.url),
      );
    const stopMining = mineForEver(node, blocks, blockEveryMs, random, (hasForked) => {
      if (absence(hasForked)) retryAbsent();
    });
    const daemon = daemonProcess(
      owner,
      { ATLAS_HOOKS__ALLOW_PRIVATE: 'true' },
      {
        dir,
        hasOwnKeys: false,
        program: [process.execPath, PROGRAM],
        flags: ['--node-http', node.url, '--node-ws', node.wsUrl, '--log-level', 'error'],
      },
    );
    for (let kill = 1; kill <= kills; kill++) {
      daemon.launch();
      // Every fourth daemon is killed during its start.
      if (kill % 4 === 0) await sleep(random() * 800);
      else await untilDelivering(daemon, good);
      await sleep(random() * lifeMs);
      await daemon.end('SIGKILL');
      onKill?.(kill, good.events.length);
    }
    await stopMining();
    flaky.behave = null;
    absent.behave = null;
    openHookStoreAnd(hooksPath, (store) => store.db.exec('UPDATE hooks SET next_attempt_at = NULL'));
    daemon.launch();
    const counts = { events: 0, repeated: 0, withdrawn: 0 };
    const head = await headHash(node);
    for (const receiver of [good, flaky, absent]) await settles(receiver, dir, head);
    node.fork(node.stats().head - MAX_REORG); // what was delivered of these blocks is withdrawn
    const newHead = await headHash(node);
    for (const receiver of [good, flaky, absent]) {
      const wanted = await settles(receiver, dir, newHead);
      assert.equal(receiver.forged, 0);
      checkRepeats(receiver);
      counts.events += wanted.length;
      counts.withdrawn += receiver.events.filter(({ removed }) => removed).length;
      const ids = new Set(receiver.events.map(({ deliveryId }) => deliveryId));
      counts.repeated += receiver.events.length - ids.size;
    }
    await daemon.end('SIGTERM');
    return counts;
  } finally {
    await owner.close();
  }
}

async function headHash({ url }: ReplayNode): Promise<string> {
  return (await resultOf<{ hash: string }>(url, 'eth_getBlockByNumber', 'latest', false)).hash;
}

/** Waits until the hook is at the head. The receiver then has exactly the events of the index, in order. */
async function settles(receiver: HookReceiver, dir: string, hash: string): Promise<string[]> {
  const store = openHookStore(join(dir, 'hooks.db'));
  try {
    const isAtHead = () => {
      const cursor = store.list().find(({ url }) => url === receiver.url)?.cursor;
      return cursor?.hash === hash && cursor.position === null;
    };
    await waitFor(isAtHead, { what: 'the hook to reach the head', timeoutMs: SETTLE_MS, everyMs: 100 });
  } finally {
    store.close();
  }
  const wanted = eventsInIndex(dir);
  assert.deepEqual(keptEvents(receiver.events).map(keyOf), wanted);
  return wanted;
}

function makeFlaky(receiver: HookReceiver, random: () => number): void {
  receiver.behave = (response, request) => {
    const choice = random();
    if (choice < FLAKINESS / 4) return hangs(response, request);
    if (choice < FLAKINESS / 2) return void response.writeHead(500).end();
    receiver.events.push(...JSON.parse(receiver.bodies.at(-1)!).deliveries);
    if (choice < FLAKINESS)
      response.destroy(); // accepted, but the acceptance is lost
    else response.writeHead(200).end();
  };
}

/** The returned function takes each block, and whether a fork came with it; it tells whether the receiver returned. */
function makeAbsent(receiver: HookReceiver): (hasForked: boolean) => boolean {
  let away = 0;
  receiver.behave = (response) => {
    if (away > 0) return void response.writeHead(500).end();
    receiver.events.push(...JSON.parse(receiver.bodies.at(-1)!).deliveries);
    response.writeHead(200).end();
  };
  return (hasForked) => {
    if (away === 0) {
      away = hasForked ? AWAY_BLOCKS : 0;
      return false;
    }
    away--;
    return away === 0;
  };
}

function createHooks(path: string, receivers: readonly HookReceiver[]): void {
  openHookStoreAnd(path, (store) => {
    for (const receiver of receivers) {
      const spec = parseHookSpec(
        { url: receiver.url, fromBlock: 0 },
        { lists: () => undefined, allowPrivate: true },
      );
      receiver.secret = store.create(spec, null, 0).secret;
    }
  });
}

function openHookStoreAnd(path: string, action: (store: ReturnType<typeof openHookStore>) => void): void {
  const store = openHookStore(path);
  action(store);
  store.close();
}

/** Mines blocks, and occasionally lets another branch win. The returned function stops it. */
function mineForEver(
  node: ReplayNode,
  blocks: Iterator<GeneratedBlock>,
  everyMs: number,
  random: () => number,
  onBlock: (hasForked: boolean) => void,
): () => Promise<void> {
  let isRunning = true;
  const mining = (async () => {
    while (isRunning) {
      await sleep(everyMs);
      const hasForked = random() < 0.06;
      if (hasForked) node.fork(node.stats().head - Math.floor(random() * MAX_REORG));
      const block = nextBlock(blocks);
      node.fork(block.number, [block], { head: block.number });
      onBlock(hasForked);
    }
  })();
  return () => {
    isRunning = false;
    return mining;
  };
}

function nextBlock(blocks: Iterator<GeneratedBlock>): GeneratedBlock {
  const { value, done } = blocks.next();
  if (done === true) throw new Error(`a run has at most ${MAX_BLOCKS} blocks`);
  return value;
}

/** The first delivery of a run may concern blocks from before it. */
async function untilDelivering(daemon: DaemonProcess, { bodies }: HookReceiver): Promise<void> {
  const before = bodies.length;
  await waitFor(() => bodies.length > before || !daemon.isRunning(), { what: 'a delivery', everyMs: 10 });
  assert.ok(daemon.isRunning(), `the daemon ended by itself: ${daemon.stderr()}`);
}

type Keyed = { blockHash: string; txHash: string; eventIndex: number; direction: string };

function keyOf({ blockHash, txHash, eventIndex, direction }: Keyed): string {
  return `${blockHash} ${txHash} ${eventIndex} ${direction}`;
}

/** The same id stands for the same event, whenever it arrives. */
function checkRepeats({ events }: HookReceiver): void {
  const seen = new Map<string, string>();
  for (const event of events) {
    const facts = `${keyOf(event)} ${event.event} ${event.removed ?? false}`;
    assert.equal(seen.get(event.deliveryId) ?? facts, facts);
    seen.set(event.deliveryId, facts);
  }
}

/** The keys of all events that the index has. */
function eventsInIndex(dataDir: string): string[] {
  return indexedTransfers(dataDir)
    .filter(isSignal)
    .flatMap(({ blockHash, hash, eventIndex, from, to }) => {
      const event = { blockHash, txHash: hash, eventIndex };
      return [
        ...(from === ZERO_ADDRESS ? [] : [keyOf({ ...event, direction: 'out' })]),
        ...(to === ZERO_ADDRESS || to === from ? [] : [keyOf({ ...event, direction: 'in' })]),
      ];
    });
}

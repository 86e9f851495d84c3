/**
 * An index behind an address that alternates between the right chain, the same chain some blocks behind, and another
 * chain with the same chain id, lower and higher than the index.
 */
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { generateChain } from '../../../scripts/simulator/chain/generate.ts';
import { Prng } from '../../../src/lib/random.ts';
import type { NodeChain } from '../../../src/model/index-status.ts';
import type { Cleanup } from '../cleanup.ts';
import { buildIndex } from '../index/build-index.ts';
import { dumpIndex } from '../index/dump.ts';
import { startIndexer } from '../index/indexer.ts';
import { startSwitchingProxy } from '../nodes/http-proxy.ts';
import { resultOf, startNode } from '../nodes/replay.ts';

interface FlappingOptions {
  seed: number;
  /** How long the nodes alternate at least, milliseconds. They go on until the index has met the other chain. */
  forMs: number;
  /** Shortest and longest time with one node, milliseconds. */
  turnMs: readonly [number, number];
  /** Blocks of each chain: more than the run can mine. */
  blocks: number;
  /** Two empty folders. */
  dirs: { flapping: string; fresh: string };
  /** Called at each switch. */
  onTurn?: (text: string) => void;
}

interface FlappingResult {
  turns: number;
  blocks: number;
  reorgs: number;
  rollbacks: number;
  states: Partial<Record<NodeChain, number>>;
}

const FIRST_HEAD = 80;
const MAX_TRUE_REORG = 5;
/** Most blocks mined per turn. */
const MAX_MINED = 3;
const TX_PER_BLOCK = 8;

/** Throws if any block of the right chain was removed, or if the index does not end equal to a fresh one. */
export async function runFlapping(cleanup: Cleanup, options: FlappingOptions): Promise<FlappingResult> {
  const { seed, forMs, turnMs, blocks, dirs, onTurn } = options;
  const prng = new Prng(seed);
  const right = [...generateChain({ blocks, txPerBlock: TX_PER_BLOCK, seed }).blocks];
  const wrong = [...generateChain({ blocks, txPerBlock: TX_PER_BLOCK, seed: seed + 1 }).blocks];
  const settings = { chainId: 7, finalizedLag: 64 };
  const node = await startNode(cleanup, { ...settings, chain: right, head: FIRST_HEAD });
  const behind = await startNode(cleanup, { ...settings, chain: right, head: FIRST_HEAD - 20 });
  const lower = await startNode(cleanup, { ...settings, chain: wrong, head: 40 });
  const higher = await startNode(cleanup, { ...settings, chain: wrong });
  const proxy = await startSwitchingProxy(cleanup, node.url);
  const indexer = startIndexer(cleanup, { http: proxy.url, dir: dirs.flapping });
  await indexer.reaches(FIRST_HEAD);

  const backends = { node, behind, lower, higher };
  const names = Object.keys(backends) as (keyof typeof backends)[];
  const states: FlappingResult['states'] = {};
  /** The last blocks below the reorgs of the right chain. No rollback may end elsewhere. */
  const forkPoints = new Set<number>();
  let head = FIRST_HEAD;
  let turns = 0;
  let reorgs = 0;
  const checkRollbacks = () => {
    const rollbacks = indexer.watermarks.filter(({ kind }) => kind === 'rolled-back');
    assert.ok(rollbacks.length <= reorgs, `${rollbacks.length} rollbacks of ${reorgs} reorgs`);
    for (const { to } of rollbacks)
      assert.ok(forkPoints.has(to), `rolled back to ${to}, where the right chain has no fork`);
    return rollbacks.length;
  };
  const end = performance.now() + forMs;
  const isOver = () => performance.now() >= end && states.another_chain !== undefined;
  while (!isOver() && head + MAX_MINED <= blocks) {
    const name = names[prng.below(names.length)] ?? 'node';
    proxy.switchTo(backends[name].url);
    turns++;
    const [least, most] = turnMs;
    const turn = least * (most / least) ** prng.fraction();
    await sleep(turn);
    const { nodeChain, head: indexed } = indexer.status();
    states[nodeChain] = (states[nodeChain] ?? 0) + 1;
    onTurn?.(`${name} for ${Math.round(turn)} ms: index at ${indexed?.number} of ${head}, ${nodeChain}`);
    checkRollbacks();
    head = node.mine(1 + prng.below(MAX_MINED));
    behind.setHead(head - 1 - prng.below(40));
    if (prng.below(8) === 0) {
      const from = head - prng.below(MAX_TRUE_REORG);
      for (const sibling of [node, behind]) sibling.fork(from);
      forkPoints.add(from - 1);
      reorgs++;
    }
  }
  proxy.switchTo(node.url);
  const { hash } = await resultOf<{ hash: string }>(node.url, 'eth_getBlockByNumber', 'latest', false);
  await indexer.reaches(head, hash);
  const rollbacks = checkRollbacks();
  assert.equal(indexer.status().nodeChain, 'same');
  assert.equal(indexer.status().phase, 'following');
  await indexer.client.stop();
  const fresh = await buildIndex({ url: node.url, dir: dirs.fresh, startBlock: 1 });
  assert.deepEqual(dumpIndex(indexer.path), dumpIndex(fresh));
  return { turns, blocks: head - FIRST_HEAD, reorgs, rollbacks, states };
}

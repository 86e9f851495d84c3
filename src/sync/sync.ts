/**
 * Following the chain. One generator yields, in order, what has to be stored. The consumer stores it before it asks for
 * the next step, so `local` always shows everything yielded before.
 */

import { StorageError, UpstreamError } from '../errors.ts';
import { backoffMs, pause } from '../lib/backoff.ts';
import { findForkPoint } from '../lib/fork-point.ts';
import { bytesToHex } from '../lib/hex.ts';
import type { BlockBatch, BlockRef, Capabilities, Hex } from '../types.ts';
import type { Pipeline } from './pipeline.ts';

export type SyncEvent =
  /** Blocks that follow the index's head and each other. */
  | { kind: 'blocks'; batches: BlockBatch[] }
  /** Blocks above `to` are no longer canonical. */
  | { kind: 'reorg'; to: number };

export interface SyncOptions {
  headTag: Capabilities['headTag'];
  startBlock: number;
  /** What the index holds. */
  local: { head(): BlockRef | null; hashAt(number: number): Hex | null };
  node: {
    /** The newest block of the followed tag; rejects with UpstreamError when there is none. */
    head(): Promise<BlockRef>;
    /** Hash of the canonical block at a height; rejects with UpstreamError when the node has none. */
    hashAt(number: number): Promise<Hex>;
  };
  pipeline: Pipeline;
  /** Resolves when there may be a new head: after the polling interval, or earlier when the node announces one. */
  waitForHead(signal: AbortSignal): Promise<void>;
  /** Called with the node's head each time it is read. */
  onNodeHead(number: number): void;
  /**
   * Called when a step fails, with the error, the milliseconds since the first of those that failed one after the other,
   * and those until the retry; with null and zeros when a step succeeds.
   */
  onStepOutcome(error: UpstreamError | StorageError | null, failingMs: number, retryInMs: number): void;
}

/** Shortest and longest wait after a failed step, milliseconds. */
const RETRY_MIN_MS = 100;
const RETRY_MAX_MS = 15_000;

export async function* sync(
  options: SyncOptions,
  signal: AbortSignal,
): AsyncGenerator<SyncEvent, void, void> {
  // A hanging node must not delay the end.
  signal.addEventListener('abort', () => options.pipeline.reset(), { once: true });
  let failures = 0;
  let failingSince = 0;
  while (!signal.aborted) {
    try {
      const event = await nextEvent(options);
      failures = 0;
      options.onStepOutcome(null, 0, 0);
      if (event === null) await options.waitForHead(signal);
      else yield event;
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof UpstreamError) options.pipeline.reset();
      else if (!(error instanceof StorageError)) throw error;
      if (failures === 0) failingSince = performance.now();
      const wait = backoffMs(++failures, RETRY_MIN_MS, RETRY_MAX_MS);
      options.onStepOutcome(error, performance.now() - failingSince, wait);
      await pause(wait, signal);
    }
  }
}

/**
 * One step: the next blocks, or the reorg to do before them, or null when the index is at the node's head. Only
 * differing hashes on the node's canonical chain make a reorg; a node that is behind or syncing makes none.
 */
async function nextEvent(options: SyncOptions): Promise<SyncEvent | null> {
  const { local, node, pipeline } = options;
  const tip = local.head();
  const head = await node.head();
  options.onNodeHead(head.number);

  const next = tip === null ? options.startBlock : tip.number + 1;
  if (head.number >= next) {
    const batches = await pipeline.take(next, head.number);
    const links = tip === null || firstParentHash(batches[0]) === tip.hash;
    if (links && areLinked(batches)) return { kind: 'blocks', batches };
    pipeline.reset();
    if (tip === null || links) return null;
    return (await findReorg(options, tip.number)) ?? throwInconsistent(tip.number);
  }
  if (tip === null || head.number < options.startBlock || local.hashAt(head.number) === head.hash)
    return null;
  return findReorg(options, head.number);
}

/** The node has the index's last block but follows it with another block's child: its chain is broken or just changed. */
function throwInconsistent(last: number): never {
  throw new UpstreamError('inconsistent', `block ${last + 1} of the node does not follow its block ${last}`);
}

/** The rollback for a block at or above `from` that differs; null when it turns out that index and node agree. */
async function findReorg(
  { local, node, headTag, startBlock }: SyncOptions,
  from: number,
): Promise<SyncEvent | null> {
  const highest = local.head()?.number ?? startBlock - 1;
  const differing = Math.min(from, highest);
  const to = await findForkPoint(differing, startBlock, (number) => local.hashAt(number), node.hashAt);
  if (to === differing) return null;
  if (headTag === 'finalized') {
    throw new UpstreamError(
      'inconsistent',
      `the node's finalized chain differs from the index above block ${to}, and finalized blocks are never rolled back; if the node is right, stop and run "atlas-node verify --repair ${to + 1}..${highest}"`,
    );
  }
  return { kind: 'reorg', to };
}

function firstParentHash(batch: BlockBatch | undefined): Hex | null {
  return batch === undefined ? null : bytesToHex(batch.parent.subarray(0, 32));
}

/** Whether each batch follows the previous one: ranges are loaded separately, so the chain may change between them. */
function areLinked(batches: readonly BlockBatch[]): boolean {
  return batches.every((batch, i) => {
    const before = batches[i - 1];
    return before === undefined || firstParentHash(batch) === bytesToHex(before.hash.subarray(-32));
  });
}

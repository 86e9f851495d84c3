/**
 * Follows the chain. One generator yields the events to store, in order. The consumer stores each event before it
 * requests the next, so `local` always contains everything yielded before.
 */

import { backoffMs, pause } from '../lib/async.ts';
import { StorageError, UpstreamError } from '../lib/errors.ts';
import { bytesToHex, type Hex } from '../lib/hex.ts';
import type { BlockRef } from '../model/block.ts';
import type { BlockBatch } from '../model/block-batch.ts';
import { followsFinal } from '../model/finality.ts';
import type { Capabilities } from '../model/index-status.ts';
import { type Pipeline, WaitingForTraces } from './backfill/pipeline.ts';
import { type ChainGuard, ChainMismatchError } from './chain-guard.ts';

export type SyncEvent =
  /** Blocks that continue the index's head, each the child of the one before. */
  | { kind: 'blocks'; batches: BlockBatch[] }
  /** Blocks above `to` are no longer canonical: the node proved another branch. */
  | { kind: 'reorg'; from: number; to: number };

export interface SyncOptions {
  headTag: Capabilities['headTag'];
  startBlock: number;
  /** The index. */
  local: { head(): BlockRef | null; hashAt(number: number): Hex | null };
  /** The node's newest block for the followed tag. Rejects with UpstreamError when there is none. */
  nodeHead(): Promise<BlockRef>;
  /** Decides whether the node may change the index. */
  guard: Pick<ChainGuard, 'confirmChain' | 'findReorg'>;
  pipeline: Pipeline;
  /** Resolves when there may be a new head: after the polling interval, or earlier when the node announces one. */
  waitForHead(signal: AbortSignal): Promise<void>;
  /** Called with the node's head after each read. */
  onNodeHead(number: number): void;
  /**
   * Called after each step. On failure: the error, the milliseconds since the first consecutive failure, and the
   * milliseconds until the retry. On success: null and zeros.
   */
  onStepOutcome(error: UpstreamError | StorageError | null, failingMs: number, retryInMs: number): void;
}

/** Backoff after failed steps, milliseconds. */
const RETRY_MIN_MS = 100;
const RETRY_MAX_MS = 15_000;
/** Longest wait while the node is on another chain. The right node may return at any time, and checking is cheap. */
const MISMATCH_RETRY_MAX_MS = 2_000;

export async function* sync(
  options: SyncOptions,
  signal: AbortSignal,
): AsyncGenerator<SyncEvent, void, void> {
  // A hanging node must not delay the shutdown.
  signal.addEventListener('abort', () => options.pipeline.reset(), { once: true });
  let failures = 0;
  /** When the first of the consecutive failures happened, null if there is none. */
  let failingSince: number | null = null;
  /** Whether the address may lead to another node now. */
  let mustConfirmChain = true;
  while (!signal.aborted) {
    try {
      if (mustConfirmChain) await options.guard.confirmChain();
      mustConfirmChain = false;
      const event = await nextEvent(options);
      failures = 0;
      failingSince = null;
      options.onStepOutcome(null, 0, 0);
      if (event === null) {
        await options.waitForHead(signal);
      } else {
        mustConfirmChain = options.local.head() === null; // the first block, once stored, identifies the chain
        yield event;
      }
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof UpstreamError || error instanceof StorageError)) throw error;
      const isWaiting = error instanceof WaitingForTraces;
      if (error instanceof UpstreamError && !isWaiting) options.pipeline.reset();
      mustConfirmChain = true;
      failingSince ??= performance.now();
      const longest = error instanceof ChainMismatchError ? MISMATCH_RETRY_MAX_MS : RETRY_MAX_MS;
      const wait = isWaiting ? 0 : backoffMs(++failures, RETRY_MIN_MS, longest);
      options.onStepOutcome(error, performance.now() - failingSince, wait);
      await pause(wait, signal);
    }
  }
}

/**
 * One step: the next blocks, or a reorg that must come first; null when the index is at or ahead of the node's head.
 */
async function nextEvent(options: SyncOptions): Promise<SyncEvent | null> {
  const { local, pipeline, guard, startBlock } = options;
  const tip = local.head();
  const head = await options.nodeHead();
  options.onNodeHead(head.number);

  const next = tip === null ? startBlock : tip.number + 1;
  if (head.number >= next) {
    const batches = await pipeline.take(next, head.number);
    const links = tip === null || firstParentHash(batches[0]) === tip.hash;
    const broken = brokenAt(batches);
    if (links && broken === null) {
      if (followsFinal(options.headTag)) requireHead(batches, head);
      return { kind: 'blocks', batches };
    }
    pipeline.reset();
    if (tip === null || links) throw notAChild(broken ?? next);
    return findReorg(guard, tip.number, head.number, true);
  }
  if (tip === null || local.hashAt(head.number) === head.hash) return null;
  return findReorg(guard, head.number, head.number, false);
}

/**
 * Throws unless the block at the finalized height is the finalized head. Blocks are requested by number, so a load
 * balancer may ask a node where that height is not final yet, and a wrong block could never be rolled back.
 */
function requireHead(batches: readonly BlockBatch[], head: BlockRef): void {
  const last = batches.at(-1);
  if (last === undefined || last.number.at(-1) !== head.number) return;
  const hash = bytesToHex(last.hash.subarray(-32));
  if (hash === head.hash) return;
  throw new UpstreamError(
    'inconsistent',
    `the node sent ${hash} as block ${head.number} after it had called ${head.hash} finalized`,
  );
}

/**
 * `isBroken`: the node's next block is not a child of the index's head. If both agree on the head, the node is wrong.
 */
async function findReorg(
  guard: SyncOptions['guard'],
  from: number,
  nodeHead: number,
  isBroken: boolean,
): Promise<SyncEvent | null> {
  const found = await guard.findReorg(from, nodeHead);
  if (typeof found === 'object') return { kind: 'reorg', ...found };
  if (found === 'agrees' && isBroken) throw notAChild(from + 1);
  return null;
}

function firstParentHash(batch: BlockBatch | undefined): Hex | null {
  return batch === undefined ? null : bytesToHex(batch.parent.subarray(0, 32));
}

/**
 * The number of the first block that does not continue the batch before its own, null if there is none. Ranges load
 * separately, so the chain may change in between.
 */
function brokenAt(batches: readonly BlockBatch[]): number | null {
  const broken = batches.find((batch, i) => {
    const before = batches[i - 1];
    return before !== undefined && firstParentHash(batch) !== bytesToHex(before.hash.subarray(-32));
  });
  return broken?.number[0] ?? null;
}

function notAChild(number: number): UpstreamError {
  return new UpstreamError(
    'inconsistent',
    `the node's block ${number} is not a child of its block ${number - 1}`,
  );
}

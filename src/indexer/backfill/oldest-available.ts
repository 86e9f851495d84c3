/** Choosing the first block of a new index. */
import { UpstreamError } from '../../lib/errors.ts';

/**
 * Whether the node still has everything needed to index a block. Asked once, a busy node may deny data that it has;
 * `withRetries` asks again before the answer is no.
 */
export type IsAvailable = (number: number, withRetries: boolean) => Promise<boolean>;

/**
 * Blocks asked for together when all are likely to be there: one after another, some 25 of them take seconds at a node far
 * away.
 */
const ASKED_AT_ONCE = 8;

/**
 * The wanted first block or, when the node has pruned it, the oldest one it still has. Nodes prune from the old end, so
 * bisection finds the first available block. When a block is wrongly denied, the search ends just above it; so only the
 * block below the result is asked for with retries, not each of some 80 steps. Throws UpstreamError while the node does not
 * even give its head: then the node is failing, which says nothing about pruning.
 */
export async function findOldestAvailable(
  wanted: number,
  head: number,
  isAvailable: IsAvailable,
): Promise<number> {
  if (wanted > head)
    // The same text for every head, so that it is logged once while the node comes nearer.
    throw new UpstreamError('inconsistent', `the node has not reached index.start_block ${wanted} yet`);
  let available = head;
  for (;;) {
    const oldest = await bisectOldest(wanted, available, isAvailable);
    if (oldest === wanted) return oldest;
    if (oldest === head && !(await isAvailable(head, true)))
      throw new UpstreamError('inconsistent', `the node does not give its head, block ${head}, for now`);
    if (!(await isAvailable(oldest - 1, true))) return oldest;
    available = oldest - 1;
  }
}

/** The node's chain as the search for the first block saw it. */
export interface GrowingChain {
  /** The head when the search began. */
  headBefore: number;
  /** The head now. */
  head(): Promise<number>;
  /** The head once it is above `head`, or after a limited wait. */
  headAfter(head: number): Promise<number>;
}

/**
 * Where an index can begin that was to begin at `oldest`, the oldest block found. A node that prunes loses that block as
 * its chain grows, so the index begins ahead of it by twice the growth during the search. Whether the node prunes shows
 * only after the head has moved on: if `oldest` is then still there, the node keeps its history and no block is given up.
 */
export async function stayAheadOfPruning(
  oldest: number,
  { headBefore, head, headAfter }: GrowingChain,
  isAvailable: IsAvailable,
): Promise<number> {
  const headFound = await head();
  if (headFound <= headBefore) return oldest;
  const headNow = await headAfter(headFound);
  const oldestNow = await findOldestAvailable(oldest, headNow, isAvailable);
  return oldestNow === oldest ? oldest : Math.min(headNow, oldestNow + 2 * (headNow - headBefore));
}

/** The lowest block of `wanted..available` from which on none is missing, when every answer is believed. */
async function bisectOldest(wanted: number, available: number, isAvailable: IsAvailable): Promise<number> {
  let oldest = wanted;
  for (;;) {
    let missing = await findMissingAbove(oldest, available, isAvailable);
    if (missing === null) return oldest;
    oldest = available;
    while (oldest - missing > 1) {
      const middle = Math.floor((missing + oldest) / 2);
      if (await isAvailable(middle, false)) oldest = middle;
      else missing = middle;
    }
  }
}

/**
 * A missing block of `from..to-1`, or null. That a node gives one block does not prove that it gives those after it:
 * there is nothing to prune of an empty one, as the first ones are on most chains. So some of them are asked for too.
 */
async function findMissingAbove(from: number, to: number, isAvailable: IsAvailable): Promise<number | null> {
  const numbers: number[] = [];
  for (let distance = 1; from + distance - 1 < to; distance *= 2) numbers.unshift(from + distance - 1);
  for (let at = 0; at < numbers.length; at += ASKED_AT_ONCE) {
    const asked = numbers.slice(at, at + ASKED_AT_ONCE);
    const available = await Promise.all(asked.map((number) => isAvailable(number, false)));
    const missing = asked.find((_number, i) => !available[i]);
    if (missing !== undefined) return missing;
  }
  return null;
}

/** Chooses the first block of a new index. */
import { UpstreamError } from '../../lib/errors.ts';

/**
 * Whether the node still has all data needed to index a block. A busy node may deny data that it has; `withRetries`
 * asks again before the answer is no.
 */
export type IsAvailable = (number: number, withRetries: boolean) => Promise<boolean>;

/**
 * Number of concurrent checks where all blocks are likely available. A distant node takes seconds to answer 25 checks
 * one by one.
 */
const PARALLEL_CHECKS = 8;

/**
 * The wanted first block or, if the node has pruned it, the oldest block it still has. Nodes prune from the old end, so
 * bisection finds the first available block. A wrong denial ends the search just above the denied block, so only the
 * block below the result is checked with retries, not each of about 80 steps. Throws UpstreamError while the node lacks
 * even its own head: it is failing, which says nothing about pruning.
 */
export async function findOldestAvailable(
  wanted: number,
  head: number,
  isAvailable: IsAvailable,
): Promise<number> {
  if (wanted > head)
    // The message names no head, so that it is logged once while the node catches up.
    throw new UpstreamError('inconsistent', `the node has not reached index.start_block ${wanted} yet`);
  let available = head;
  for (;;) {
    const oldest = await bisectOldest(wanted, available, isAvailable);
    if (oldest === wanted) return oldest;
    if (oldest === head && !(await isAvailable(head, true)))
      throw new UpstreamError(
        'inconsistent',
        `the node does not serve its own head, block ${head}, at present`,
      );
    if (!(await isAvailable(oldest - 1, true))) return oldest;
    available = oldest - 1;
  }
}

/** The node's head before and after the search. */
interface GrowingChain {
  /** The head when the search began. */
  headBefore: number;
  /** The head now. */
  head(): Promise<number>;
  /** The head once it is above `head`, or after a limited wait. */
  headAfter(head: number): Promise<number>;
}

/**
 * A safe first block of the index, given the oldest available block. A pruning node drops that block as its chain
 * grows, so the index starts ahead of it by twice the growth during the search. Only once the head has moved can we
 * tell whether the node prunes; if `oldest` is still available then, the index starts there.
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

/** The lowest block of `wanted..available` from which every block is available, trusting every answer. */
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
 * A missing block of `from..to-1`, or null. One available block does not prove that later ones are: empty blocks, such
 * as the first ones of most chains, have nothing to prune. So this checks a sample.
 */
async function findMissingAbove(from: number, to: number, isAvailable: IsAvailable): Promise<number | null> {
  const numbers: number[] = [];
  for (let distance = 1; from + distance - 1 < to; distance *= 2) numbers.unshift(from + distance - 1);
  for (let at = 0; at < numbers.length; at += PARALLEL_CHECKS) {
    const asked = numbers.slice(at, at + PARALLEL_CHECKS);
    const available = await Promise.all(asked.map((number) => isAvailable(number, false)));
    const missing = asked.find((_number, i) => !available[i]);
    if (missing !== undefined) return missing;
  }
  return null;
}

/** Choosing the first block of a new index. */
import { UpstreamError } from '../errors.ts';

/**
 * Whether the node still has everything needed to index a block. Asked once, a busy node may deny data that it has;
 * `withRetries` asks again before the answer is no.
 */
export type IsAvailable = (number: number, withRetries: boolean) => Promise<boolean>;

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
  let distance = 1;
  while (from + 2 * distance - 1 < to) distance *= 2;
  for (; distance >= 1; distance /= 2) {
    const number = from + distance - 1;
    if (number < to && !(await isAvailable(number, false))) return number;
  }
  return null;
}

/** Choosing the first block of a new index. */
import { UpstreamError } from '../errors.ts';

/** Whether the node still has everything that indexing a block takes. */
export type IsAvailable = (number: number) => Promise<boolean>;

/**
 * The wanted first block, or when the node has pruned it the oldest one it can still give: history is dropped from
 * the old end, so availability is a single step and can be searched by halving.
 */
export async function oldestAvailable(
  wanted: number,
  head: number,
  isAvailable: IsAvailable,
): Promise<number> {
  if (wanted > head)
    throw new UpstreamError(
      'inconsistent',
      `the node's head is block ${head}, before index.start_block ${wanted}`,
    );
  if (await isAvailable(wanted)) return wanted;
  let missing = wanted;
  let available = head;
  while (available - missing > 1) {
    const middle = Math.floor((missing + available) / 2);
    if (await isAvailable(middle)) available = middle;
    else missing = middle;
  }
  return available;
}

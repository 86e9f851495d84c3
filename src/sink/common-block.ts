/** Where PostgreSQL and the index agree. */
import { SinkMismatchError } from './errors.ts';
import type { SinkTip } from './index-source.ts';

interface Sides {
  /** The block in PostgreSQL. */
  stored(number: number): Promise<SinkTip | null>;
  /** Whether the index has this very block. */
  isIndexed(block: SinkTip): boolean;
}

/**
 * The highest block from `first` to `highest` that both sides have, by bisection: blocks are linked, so sides that agree
 * on one agree on all below. Throws SinkMismatchError when they have none in common: that is no reorg but another chain.
 */
export async function findCommonBlock(
  first: number,
  highest: number,
  { stored, isIndexed }: Sides,
): Promise<SinkTip> {
  let common: SinkTip | null = null;
  let low = first;
  let high = highest;
  while (low <= high) {
    // The first look is at the highest block: most often the index is only behind.
    const middle: number = common === null && high === highest ? high : Math.floor((low + high) / 2);
    const block = await stored(middle);
    if (block !== null && isIndexed(block)) {
      common = block;
      low = middle + 1;
    } else high = middle - 1;
  }
  if (common === null) {
    throw new SinkMismatchError(
      `PostgreSQL and the index have no block in common from block ${first} on: they are of different chains; set another sink.postgres.schema, or drop that one to write it from the start`,
    );
  }
  return common;
}

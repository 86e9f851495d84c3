/** Whether the index still has what a client has read up to a block: it says so with its next request. */
import { IndexChain } from '../follower/index-chain.ts';
import type { Hex } from '../lib/hex.ts';
import type { Rewrites } from '../model/rewrites.ts';
import type { Db } from '../store/open-database.ts';

/** The last indexed block of an earlier answer. */
export interface SeenBlock {
  number: number;
  hash: Hex;
  /** The mark of the index then; null if the client does not name it (model/rewrites.ts). */
  mark: string | null;
}

/** Returns a function that gives the block to read again from; null if the index has all of it. */
export function prepareReadAgainFrom(
  db: Db,
  maxReorg: number,
): (seen: SeenBlock, rewrites: Rewrites) => number | null {
  const chain = new IndexChain(db, maxReorg);
  return ({ number, hash, mark }, rewrites) => chain.readAgainFrom(number, hash, mark, rewrites);
}

/** Blocks as points of the chain. */
import type { Hex } from '../lib/hex.ts';

/** A point of the chain: a height and the hash of its block. */
export interface BlockRef {
  number: number;
  hash: Hex;
}

/** A block of the index, with its time. */
export interface IndexedBlock extends BlockRef {
  /** Unix seconds. */
  timestamp: number;
}

/** The few fields of a block that the gateway looks at itself. */

import type { BlockRef, Hex } from '../types.ts';
import { readHash, readQuantity } from '../upstream/shape.ts';
import { resultOf } from './tail.ts';

export interface BlockHeader extends BlockRef {
  parentHash: Hex;
}

/** The block that is the result of `method`. Null when there is none, for a null result or an error. Throws UpstreamError `malformed`. */
export function readBlockHeader(tail: Buffer, method: string): BlockHeader | null {
  const block = resultOf(tail);
  if (block === undefined || block === null) return null;
  const { number, hash, parentHash } = block as Record<string, unknown>;
  return {
    number: readQuantity(number, method, 'number'),
    hash: readHash(hash, method, 'hash'),
    parentHash: readHash(parentHash, method, 'parentHash'),
  };
}

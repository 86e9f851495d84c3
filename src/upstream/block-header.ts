/** What of a node's block the program itself looks at, whichever call or announcement it came with. */
import { isObject } from '../lib/is-object.ts';
import { show } from '../lib/show.ts';
import type { BlockRef, Hex } from '../types.ts';
import { malformed } from './reply.ts';
import { readHash, readQuantity } from './shape.ts';

export interface BlockHeader extends BlockRef {
  parentHash: Hex;
}

/** A block or header as it was sent; `what` names it in errors. Throws UpstreamError `malformed` for what is no object. */
export function readBlock(value: unknown, what: string): Readonly<Record<string, unknown>> {
  if (!isObject(value)) throw malformed(what, `result is ${show(value)}, not a block`);
  return value;
}

/** Reads a block or its header; `what` names it in errors. Throws UpstreamError `malformed`. */
export function readBlockHeader(value: unknown, what: string): BlockHeader {
  const block = readBlock(value, what);
  return {
    number: readQuantity(block.number, what, 'number'),
    hash: readHash(block.hash, what, 'hash'),
    parentHash: readHash(block.parentHash, what, 'parentHash'),
  };
}

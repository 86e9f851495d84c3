/** The header fields in use, from any call or notification that carries a block. */

import type { Hex } from '../lib/hex.ts';
import { isObject, previewValue } from '../lib/text.ts';
import type { BlockRef } from '../model/block.ts';
import { malformed, readHash, readQuantity } from './reply.ts';

export interface BlockHeader extends BlockRef {
  parentHash: Hex;
}

/** A block or header as sent; `what` names it in errors. Throws UpstreamError `malformed` when it is not an object. */
export function readBlock(value: unknown, what: string): Readonly<Record<string, unknown>> {
  if (!isObject(value)) throw malformed(what, `result is ${previewValue(value)}, not a block`);
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

/** The header fields that atlas-node uses, from any call or notification that contains a block. */

import type { Hex } from '../lib/hex.ts';
import { isObject, previewValue } from '../lib/text.ts';
import type { BlockRef } from '../model/block.ts';
import { malformed, readHash, readQuantity } from './reply.ts';

export interface BlockHeader extends BlockRef {
  parentHash: Hex;
}

/** Checks that a block or header is an object. `what` names it in errors. Throws UpstreamError `malformed`. */
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

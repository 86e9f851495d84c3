/** A trail as bytes: 8 for the number of each block, then its hash, zero if it is not known. */

import type { KnownBlock } from '../follower/outcome.ts';
import { bytesToHex, type Hex, hexToBytes } from '../lib/hex.ts';

const HASH_BYTES = 32;
const RECORD_BYTES = 8 + HASH_BYTES;
const NO_HASH = Buffer.alloc(HASH_BYTES);

export function packTrail(trail: readonly KnownBlock<Hex>[]): Buffer {
  const bytes = Buffer.alloc(trail.length * RECORD_BYTES);
  for (const [i, { number, hash }] of trail.entries()) {
    bytes.writeBigInt64BE(BigInt(number), i * RECORD_BYTES);
    if (hash !== null) bytes.set(hexToBytes(hash), i * RECORD_BYTES + 8);
  }
  return bytes;
}

export function unpackTrail(bytes: Buffer): KnownBlock<Hex>[] {
  const trail: KnownBlock<Hex>[] = [];
  for (let at = 0; at + RECORD_BYTES <= bytes.length; at += RECORD_BYTES) {
    const hash = bytes.subarray(at + 8, at + RECORD_BYTES);
    const number = Number(bytes.readBigInt64BE(at));
    trail.push({ number, hash: hash.equals(NO_HASH) ? null : bytesToHex(hash) });
  }
  return trail;
}

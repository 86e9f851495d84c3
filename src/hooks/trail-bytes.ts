/** A trail as bytes: 8 for the number of each block, then its hash, zero if it is not known. */
import { bytesToHex, hexToBytes } from '../lib/hex.ts';
import type { KnownBlock } from './branch.ts';

const HASH_BYTES = 32;
const RECORD_BYTES = 8 + HASH_BYTES;
const NO_HASH = Buffer.alloc(HASH_BYTES);

export function packTrail(trail: readonly KnownBlock[]): Buffer {
  const bytes = Buffer.alloc(trail.length * RECORD_BYTES);
  for (const [i, { block, hash }] of trail.entries()) {
    bytes.writeBigInt64BE(BigInt(block), i * RECORD_BYTES);
    if (hash !== null) bytes.set(hexToBytes(hash), i * RECORD_BYTES + 8);
  }
  return bytes;
}

export function unpackTrail(bytes: Buffer): KnownBlock[] {
  const trail: KnownBlock[] = [];
  for (let at = 0; at + RECORD_BYTES <= bytes.length; at += RECORD_BYTES) {
    const hash = bytes.subarray(at + 8, at + RECORD_BYTES);
    const block = Number(bytes.readBigInt64BE(at));
    trail.push({ block, hash: hash.equals(NO_HASH) ? null : bytesToHex(hash) });
  }
  return trail;
}

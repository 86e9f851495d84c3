/** Values that stand one after the other in one array of bytes, as in a BlockBatch. What is returned is not a copy. */

/** The `i`th value, where each ends at its offset in `ends`. */
export function packedValue(bytes: Uint8Array, ends: Uint32Array, i: number): Uint8Array {
  return bytes.subarray(i === 0 ? 0 : ends[i - 1], ends[i]);
}

/** The `i`th of hashes, 32 bytes each. */
export function packedHash(hashes: Uint8Array, i: number): Uint8Array {
  return hashes.subarray(i * 32, i * 32 + 32);
}

/** The `i`th of values that stand one after the other in `bytes`, each up to its offset in `ends`; not a copy. */
export function packedValue(bytes: Uint8Array, ends: Uint32Array, i: number): Uint8Array {
  return bytes.subarray(i === 0 ? 0 : ends[i - 1], ends[i]);
}

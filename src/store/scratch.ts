/**
 * Memory for the bytes of the next rows to write. Binding a view of one buffer takes half a microsecond less than
 * binding a small array, which first gets a buffer of its own.
 */

const SCRATCH_BYTES = 2 ** 16;
/** Longer values get memory of their own, so that many rows can wait. */
const MAX_TAKEN = SCRATCH_BYTES / 64;
const scratch = Buffer.allocUnsafeSlow(SCRATCH_BYTES);
let scratchEnd = 0;

/** Some bytes, valid until SCRATCH_BYTES / 2 more are taken. */
export function takeScratch(length: number): Buffer {
  if (length > MAX_TAKEN) return Buffer.allocUnsafeSlow(length);
  if (scratchEnd + length > SCRATCH_BYTES) scratchEnd = 0;
  scratchEnd += length;
  return scratch.subarray(scratchEnd - length, scratchEnd);
}

/** The bytes of hex digits, valid like others. */
export function scratchOfHex(hex: string): Buffer {
  const bytes = takeScratch(hex.length / 2);
  bytes.write(hex, 'hex');
  return bytes;
}

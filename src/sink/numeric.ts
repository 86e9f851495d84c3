/** PostgreSQL's binary form of `numeric`: digits of base 10,000, the most significant first. */

/** Digits of base 10,000 that 2^256 has. */
const MAX_DIGITS = 20;
/** Bytes before the digits: count of digits, weight of the first, sign and scale, 16 bits each. */
const HEADER_BYTES = 8;
/** The longest encoded value, bytes. */
export const MAX_NUMERIC_BYTES = HEADER_BYTES + 2 * MAX_DIGITS;
/** Integers of the index have at most 256 bits. */
const MAX_LIMBS = 16;

const limbs = new Uint16Array(MAX_LIMBS);
const digits = new Uint16Array(MAX_DIGITS);

/**
 * Writes the non-negative integer of big-endian bytes (an empty array is zero, at most 32) at `at` and returns where it
 * ends. Divides by hand: a bigint costs several times as much.
 */
export function writeNumeric(integer: Uint8Array, out: Buffer, at: number): number {
  const count = splitDigits(integer);
  let zeros = 0;
  while (zeros < count && digits[zeros] === 0) zeros++;
  const stored = count - zeros;
  at = out.writeInt16BE(stored, at);
  at = out.writeInt16BE(stored === 0 ? 0 : count - 1, at);
  at = out.writeInt32BE(0, at); // sign: positive; scale: an integer
  for (let i = count - 1; i >= zeros; i--) {
    const digit = digits[i]!;
    out[at++] = digit >> 8;
    out[at++] = digit & 255;
  }
  return at;
}

/** Fills `digits`, the least significant first, and returns how many there are. */
function splitDigits(integer: Uint8Array): number {
  let length = 0;
  // A first limb of one byte if the number of bytes is odd.
  for (let i = integer.length & 1 ? -1 : 0; i < integer.length; i += 2)
    limbs[length++] = ((i < 0 ? 0 : integer[i]!) << 8) | integer[i + 1]!;
  let count = 0;
  let first = 0;
  while (first < length) {
    let rest = 0;
    for (let i = first; i < length; i++) {
      const value = rest * 65_536 + limbs[i]!;
      const quotient = (value / 10_000) | 0;
      limbs[i] = quotient;
      rest = value - quotient * 10_000;
    }
    digits[count++] = rest;
    while (first < length && limbs[first] === 0) first++;
  }
  while (count > 0 && digits[count - 1] === 0) count--;
  return count;
}

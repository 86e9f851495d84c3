/**
 * Signed sums of amounts in one typed array: 192 bits each, in two's complement, low word first. A commit has hundreds
 * of thousands of sums; as bigints, each would be an object for the garbage collector to trace.
 */
import { bigIntToBytes, bytesToBigInt } from '../../lib/hex.ts';
import { decodeSigned, encodeSigned } from '../../lib/signed.ts';
import { takeScratch } from '../scratch.ts';

/** 32-bit words per sum. */
export const SUM_WORDS = 6;

/**
 * Longest amount, in bytes, that a 192-bit sum takes: a billion of them cannot overflow. A longer amount, seen only in
 * fabricated tokens, turns the sum into a bigint.
 */
const MAX_BYTES = 20;

/** Returned bytes are scratch (store/scratch.ts). */
export class WideSums {
  /** A sum is `SUM_WORDS` words from its offset on. The owner replaces it when it grows. */
  words: Uint32Array = new Uint32Array(0);
  /** Sums that received a longer amount, by offset. */
  private readonly large = new Map<number, bigint>();

  /** Starts a new commit. */
  reset(): void {
    this.large.clear();
  }

  /** Adds the amount in `bytes[start..end)`, big-endian, to the sum at offset `at`. */
  add(at: number, bytes: Uint8Array, start: number, end: number): void {
    if (end - start > MAX_BYTES || this.isLarge(at))
      return this.setLarge(at, this.get(at) + bytesToBigInt(bytes.subarray(start, end)));
    const { words } = this;
    let sum = 0;
    for (let word = 0; word < SUM_WORDS; word++) {
      sum = words[at + word]! + wordBefore(bytes, start, end - 4 * word) + (sum >= 2 ** 32 ? 1 : 0);
      words[at + word] = sum;
    }
  }

  subtract(at: number, bytes: Uint8Array, start: number, end: number): void {
    if (end - start > MAX_BYTES || this.isLarge(at))
      return this.setLarge(at, this.get(at) - bytesToBigInt(bytes.subarray(start, end)));
    const { words } = this;
    let difference = 0;
    for (let word = 0; word < SUM_WORDS; word++) {
      difference = words[at + word]! - wordBefore(bytes, start, end - 4 * word) - (difference < 0 ? 1 : 0);
      words[at + word] = difference;
    }
  }

  /** -1, 0 or 1. */
  sign(at: number): number {
    if (this.isLarge(at)) return Number(this.get(at) > 0n) - Number(this.get(at) < 0n);
    if (this.words[at + SUM_WORDS - 1]! >= 2 ** 31) return -1;
    return this.magnitudeLength(at) === 0 ? 0 : 1;
  }

  get(at: number): bigint {
    const large = this.large.get(at);
    if (large !== undefined) return large;
    let sum = BigInt(this.words[at + SUM_WORDS - 1]! | 0);
    for (let word = SUM_WORDS - 2; word >= 0; word--) sum = (sum << 32n) | BigInt(this.words[at + word]!);
    return sum;
  }

  /** Adds a number in the encoded form of lib/signed.ts. */
  addEncoded(at: number, encoded: Uint8Array): void {
    if (encoded[0]! >= 0x80) this.add(at, encoded, 1, encoded.length);
    else {
      const magnitude = bigIntToBytes(-decodeSigned(encoded));
      this.subtract(at, magnitude, 0, magnitude.length);
    }
  }

  /** The encoded form of the sum. */
  encode(at: number): Uint8Array {
    if (this.sign(at) < 0 || this.isLarge(at)) return encodeSigned(this.get(at));
    const length = this.magnitudeLength(at);
    const encoded = takeScratch(length + 1);
    encoded[0] = 0x80 + length;
    this.writeMagnitude(at, encoded, 1, length);
    return encoded;
  }

  /** The shortest big-endian bytes of a non-negative sum. */
  toBytes(at: number): Uint8Array {
    if (this.isLarge(at)) return bigIntToBytes(this.get(at));
    const length = this.magnitudeLength(at);
    const bytes = takeScratch(length);
    this.writeMagnitude(at, bytes, 0, length);
    return bytes;
  }

  private magnitudeLength(at: number): number {
    for (let word = SUM_WORDS - 1; word >= 0; word--) {
      const value = this.words[at + word]!;
      if (value !== 0) return 4 * word + ((39 - Math.clz32(value)) >> 3);
    }
    return 0;
  }

  private writeMagnitude(at: number, out: Uint8Array, start: number, length: number): void {
    for (let i = 0; i < length; i++)
      out[start + length - 1 - i] = this.words[at + (i >> 2)]! >>> (8 * (i & 3));
  }

  private isLarge(at: number): boolean {
    return this.large.size > 0 && this.large.has(at);
  }

  private setLarge(at: number, value: bigint): void {
    this.large.set(at, value);
  }
}

/** The up to four bytes before `end`, not before `start`, as a big-endian number. */
function wordBefore(bytes: Uint8Array, start: number, end: number): number {
  if (end - start >= 4)
    return (
      ((bytes[end - 4]! << 24) | (bytes[end - 3]! << 16) | (bytes[end - 2]! << 8) | bytes[end - 1]!) >>> 0
    );
  let word = 0;
  for (let i = start; i < end; i++) word = (word << 8) | bytes[i]!;
  return word >>> 0;
}

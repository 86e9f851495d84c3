/**
 * Signed integers of any size as bytes whose byte order is their numeric order, so that SQLite can sort them. Token
 * balances need this: sums of deltas may be negative (history before the index) and may exceed 2^256.
 *
 * Encoding: one byte `0x80 + n` then n big-endian bytes for a positive number, `0x80 - n` then n inverted bytes for a
 * negative one, `0x80` alone for zero. n is at most 127.
 */
import { bigIntToBytes, bytesToBigInt, digitsToBigInt } from './hex.ts';

/** Encoded zero. A greater balance is also greater in byte order. */
export const ZERO_BALANCE = Uint8Array.of(0x80);

/** Whether an encoded number is above zero. */
export function isPositive(bytes: Uint8Array): boolean {
  return bytes[0]! > 0x80;
}

export function encodeSigned(value: bigint): Uint8Array {
  if (value >= 0n) return encodeMagnitude(bigIntToBytes(value));
  const magnitude = bigIntToBytes(-value);
  const out = new Uint8Array(magnitude.length + 1);
  out[0] = 0x80 - magnitude.length;
  for (let i = 0; i < magnitude.length; i++) out[i + 1] = ~magnitude[i]! & 255;
  return out;
}

/** The encoded form of a non-negative integer given as its shortest big-endian bytes. */
export function encodeMagnitude(magnitude: Uint8Array): Uint8Array {
  const out = new Uint8Array(magnitude.length + 1);
  out[0] = 0x80 + magnitude.length;
  out.set(magnitude, 1);
  return out;
}

export function decodeSigned(bytes: Uint8Array): bigint {
  const rest = bytes.subarray(1);
  if (bytes[0]! >= 0x80) return bytesToBigInt(rest);
  return -bytesToBigInt(rest.map((byte) => ~byte & 255));
}

/** The same of the bytes as hex digits, which the driver makes several times faster than a Buffer. */
export function decodeSignedHex(digits: string): bigint {
  const rest = digitsToBigInt(digits.slice(2));
  return digits >= '80' ? rest : rest + 1n - (1n << BigInt(4 * (digits.length - 2)));
}

/** Whether the bytes are the one encoding of their number. Others decode to a number too, but sort elsewhere. */
export function isSignedEncoding(bytes: Uint8Array): boolean {
  const [sign = 0, first] = bytes;
  const length = bytes.length - 1;
  return sign >= 0x80 ? sign === 0x80 + length && first !== 0 : sign === 0x80 - length && first !== 0xff;
}

/** Encodes rows in the binary format of PostgreSQL's COPY, which costs a fraction of the text format on both sides. */
import { writeHex } from '../lib/hex.ts';

/** Precedes the rows: signature, no flags, no header extension. */
export const COPY_HEADER = Buffer.concat([Buffer.from('PGCOPY\n\xff\r\n\0', 'latin1'), Buffer.alloc(8)]);
/** Follows the rows. */
export const COPY_TRAILER = Buffer.from([0xff, 0xff]);

const MIN_CAPACITY = 1 << 16;
/** Unix seconds of PostgreSQL's epoch, 2000-01-01. */
const EPOCH_SECONDS = 946_684_800;

// PostgreSQL's binary format of `numeric`: base-10,000 digits, the most significant first.

/** Base-10,000 digits of 2^256. */
const MAX_DIGITS = 20;
/** Bytes before the digits: digit count, weight of the first digit, sign and scale, 16 bits each. */
const HEADER_BYTES = 8;
/** The longest encoded value, bytes. */
const MAX_NUMERIC_BYTES = HEADER_BYTES + 2 * MAX_DIGITS;
/** Characters of a decimal text per base-10,000 digit. */
const DIGIT_CHARACTERS = 4;
const ZERO_CODE = 48;
/** Precedes the text of a `jsonb`. */
const JSONB_VERSION = 1;
/** The index's integers have at most 256 bits. */
const MAX_LIMBS = 16;

const integerBytes = new Uint8Array(2 * MAX_LIMBS);
const limbs = new Uint16Array(MAX_LIMBS);
const digits = new Uint16Array(MAX_DIGITS);

export class CopyRows {
  private bytes: Buffer;
  private length = 0;
  /** Rows since the last `take`. */
  rows = 0;

  constructor(capacity = MIN_CAPACITY) {
    this.bytes = Buffer.allocUnsafe(capacity);
  }

  /** Starts a row. Its fields follow in column order. */
  row(fields: number): void {
    this.reserve(2);
    this.bytes[this.length++] = fields >> 8;
    this.bytes[this.length++] = fields;
    this.rows++;
  }

  null(): void {
    this.size(-1, 0);
  }

  bool(value: boolean): void {
    this.size(1, 1);
    this.bytes[this.length++] = value ? 1 : 0;
  }

  int4(value: number): void {
    this.size(4, 4);
    this.word(value);
  }

  int8(value: number): void {
    this.size(8, 8);
    this.word(Math.floor(value / 2 ** 32));
    this.word(value);
  }

  /** `timestamptz` of Unix seconds. */
  time(seconds: number): void {
    this.int8((seconds - EPOCH_SECONDS) * 1_000_000);
  }

  bytea(value: Uint8Array): void {
    this.size(value.length, value.length);
    const { bytes } = this;
    let at = this.length;
    for (let i = 0; i < value.length; i++) bytes[at++] = value[i]!; // faster than copy() for so few bytes
    this.length = at;
  }

  /** `bytea` of hex digits, those of `text` from `start` on. */
  hex(text: string, start = 0): void {
    const length = (text.length - start) >> 1;
    this.size(length, length);
    writeHex(text, start, text.length, this.bytes, this.length);
    this.length += length;
  }

  /** `text`, which in PostgreSQL cannot contain NUL. */
  text(value: string): void {
    this.bytea(Buffer.from(value.replaceAll('\0', ''), 'utf8'));
  }

  /** `text` of a few ASCII characters. */
  ascii(value: string): void {
    this.size(value.length, value.length);
    const { bytes } = this;
    let at = this.length;
    for (let i = 0; i < value.length; i++) bytes[at++] = value.charCodeAt(i);
    this.length = at;
  }

  /** `jsonb` of JSON text in ASCII. */
  jsonb(value: string): void {
    const length = 1 + value.length;
    this.size(length, length);
    this.bytes[this.length] = JSONB_VERSION;
    this.bytes.write(value, this.length + 1, 'latin1');
    this.length += length;
  }

  /** `numeric` of the decimal text of a non-negative integer of any length. */
  decimal(integer: string): void {
    const capacity = HEADER_BYTES + 2 * Math.ceil(integer.length / DIGIT_CHARACTERS);
    this.reserve(4 + capacity);
    const start = this.length + 4;
    const end = writeDecimal(integer, this.bytes, start);
    this.bytes.writeInt32BE(end - start, this.length);
    this.length = end;
  }

  /** `numeric` of a non-negative integer of up to 256 bits: an even number of hex digits, none for zero. */
  numeric(integer: string): void {
    this.reserve(4 + MAX_NUMERIC_BYTES);
    const start = this.length + 4;
    const end = writeNumeric(integer, this.bytes, start);
    this.bytes.writeInt32BE(end - start, this.length);
    this.length = end;
  }

  /** Removes and returns the encoded rows. The result stays valid. */
  take(): Buffer {
    const taken = this.bytes.subarray(0, this.length);
    this.bytes = Buffer.allocUnsafe(Math.max(MIN_CAPACITY, this.length + (this.length >> 3)));
    this.length = 0;
    this.rows = 0;
    return taken;
  }

  private size(value: number, bytes: number): void {
    this.reserve(4 + bytes);
    this.word(value);
  }

  /** The low 32 bits of an integer, by hand: the methods of Buffer check each value. */
  private word(value: number): void {
    const { bytes } = this;
    let at = this.length;
    bytes[at++] = value >> 24;
    bytes[at++] = value >> 16;
    bytes[at++] = value >> 8;
    bytes[at++] = value;
    this.length = at;
  }

  private reserve(more: number): void {
    if (this.length + more <= this.bytes.length) return;
    const larger = Buffer.allocUnsafe(2 * (this.length + more));
    this.bytes.copy(larger, 0, 0, this.length);
    this.bytes = larger;
  }
}

/** Writes an integer at `at`. Returns the end offset. Divides by hand, because a bigint costs several times as much. */
function writeNumeric(integer: string, out: Buffer, at: number): number {
  writeHex(integer, 0, integer.length, integerBytes, 0);
  const count = splitDigits(integer.length >> 1);
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

/** Writes the integer of a decimal text at `at`. Returns the end offset. */
function writeDecimal(integer: string, out: Buffer, at: number): number {
  const count = integer === '0' ? 0 : Math.ceil(integer.length / DIGIT_CHARACTERS);
  const first = at + HEADER_BYTES;
  let end = first; // after the last digit that is not zero
  let next = 0;
  for (let i = 0; i < count; i++) {
    const right = integer.length - DIGIT_CHARACTERS * (count - 1 - i);
    let digit = 0;
    while (next < right) digit = 10 * digit + integer.charCodeAt(next++) - ZERO_CODE;
    out[first + 2 * i] = digit >> 8;
    out[first + 2 * i + 1] = digit & 255;
    if (digit !== 0) end = first + 2 * (i + 1);
  }
  at = out.writeInt16BE((end - first) >> 1, at);
  at = out.writeInt16BE(Math.max(0, count - 1), at);
  out.writeInt32BE(0, at);
  return end;
}

/** Fills `digits` from that many of `integerBytes`, the least significant first, and returns their number. */
function splitDigits(bytes: number): number {
  let length = 0;
  // If the number of bytes is odd, the first limb has one byte.
  for (let i = bytes & 1 ? -1 : 0; i < bytes; i += 2)
    limbs[length++] = ((i < 0 ? 0 : integerBytes[i]!) << 8) | integerBytes[i + 1]!;
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

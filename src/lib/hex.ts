/** Value of each UTF-16 code unit as a hex digit; 255 for non-digits. */
const NIBBLE = new Uint8Array(65_536).fill(255);
for (let i = 0; i < 16; i++) {
  const digit = i.toString(16);
  NIBBLE[digit.charCodeAt(0)] = i;
  NIBBLE[digit.toUpperCase().charCodeAt(0)] = i;
}

/**
 * Writes the bytes of `text[start..end)`, an even number of hex digits without prefix, into `out` at `at`. Returns
 * false, having written garbage, if a character is not a hex digit.
 */
export function writeHex(text: string, start: number, end: number, out: Uint8Array, at: number): boolean {
  let bad = 0;
  for (let i = start; i < end; i += 2) {
    const hi = NIBBLE[text.charCodeAt(i) & 65_535]!;
    const lo = NIBBLE[text.charCodeAt(i + 1) & 65_535]!;
    bad |= hi | lo;
    out[at++] = (hi << 4) | lo;
  }
  return (bad & 0xf0) === 0;
}

/** Bytes of a `0x` string with an even number of digits. Throws RangeError for anything else. */
export function hexToBytes(hex: string): Uint8Array {
  const bytes = new Uint8Array((hex.length - 2) >> 1);
  if (!hex.startsWith('0x') || hex.length % 2 !== 0 || !writeHex(hex, 2, hex.length, bytes, 0)) {
    throw new RangeError(`not a hex string: ${hex.slice(0, 80)}`);
  }
  return bytes;
}

/** `0x` string of bytes, lower case. */
export function bytesToHex(bytes: Uint8Array): Hex {
  return `0x${bytesToDigits(bytes)}`;
}

/** Hex digits of bytes without prefix, lower case. */
export function bytesToDigits(bytes: Uint8Array): string {
  const view = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return view.toString('hex');
}

/** Non-negative integer of big-endian hex digits without prefix; an empty text is zero. */
export function digitsToBigInt(digits: string): bigint {
  return digits === '' ? 0n : BigInt(`0x${digits}`);
}

/** Two 64-bit words: real amounts fit, and a bigint from words is several times faster than from text. */
const WORDS_BYTES = 16;
const words = new Uint8Array(WORDS_BYTES);
const wordsView = new DataView(words.buffer);
const TWO_TO_64 = 2n ** 64n;

/** Non-negative integer of the big-endian bytes `start..end - 1`, of all by default; zero if there are none. */
export function bytesToBigInt(bytes: Uint8Array, start = 0, end = bytes.length): bigint {
  const length = end - start;
  if (length > WORDS_BYTES) return BigInt(bytesToHex(bytes.subarray(start, end)));
  // Neither `fill` nor `set`: both cost more than these few bytes.
  wordsView.setFloat64(0, 0);
  wordsView.setFloat64(8, 0);
  for (let i = start, at = WORDS_BYTES - length; i < end; i++) words[at++] = bytes[i]!;
  const low = wordsView.getBigUint64(8);
  return length <= 8 ? low : (wordsView.getBigUint64(0) << 64n) | low;
}

/** Shortest big-endian bytes of a non-negative integer; zero is the empty array. */
export function bigIntToBytes(value: bigint): Uint8Array {
  const first = fillWords(value);
  return first === null ? longToBytes(value) : words.slice(first);
}

/**
 * Writes the number of these bytes, below 256, and the bytes: a new array for them would cost more than they do.
 * Returns the position after them.
 */
export function writeBigInt(out: Uint8Array, at: number, value: bigint): number {
  const first = fillWords(value);
  const digits = first === null ? longToBytes(value) : words;
  const start = first ?? 0;
  out[at++] = digits.length - start;
  for (let i = start; i < digits.length; i++) out[at++] = digits[i]!;
  return at;
}

/** Puts the integer into `words`. Returns where its first byte is; null if it does not fit. */
function fillWords(value: bigint): number | null {
  if (value < TWO_TO_64) wordsView.setFloat64(0, 0);
  else {
    const high = value >> 64n;
    if (high >= TWO_TO_64) return null;
    wordsView.setBigUint64(0, high);
  }
  wordsView.setBigUint64(8, value);
  let first = value < TWO_TO_64 ? 8 : 0;
  while (first < WORDS_BYTES && words[first] === 0) first++;
  return first;
}

function longToBytes(value: bigint): Uint8Array {
  const digits = value.toString(16);
  return Buffer.from(digits.length % 2 === 0 ? digits : `0${digits}`, 'hex');
}

/**
 * The integer of a quantity (`0x1b4`) in a client's request, in any case, leading zeros allowed; NaN if it is not a
 * quantity or exceeds 2^53
 * - 1.
 */
export function quantityToNumber(value: unknown): number {
  if (typeof value !== 'string' || value.length < 3 || !value.startsWith('0x')) return Number.NaN;
  let number = 0;
  for (let i = 2; i < value.length; i++) {
    const digit = NIBBLE[value.charCodeAt(i)]!;
    number = number * 16 + digit;
    if (digit > 15 || number > Number.MAX_SAFE_INTEGER) return Number.NaN;
  }
  return number;
}

/** Most decimal digits of a 256-bit integer. */
const MAX_DECIMAL_DIGITS = 78;

/**
 * The `0x` text of a quantity in any spelling that nodes use: digits in any case with leading zeros, `0x` for zero, a
 * decimal string, a JSON number. Null for anything else, including a JSON number above 2^53 - 1, whose last digits are
 * lost. The digits of a `0x` text are checked when they are converted.
 */
export function spelledQuantity(value: unknown): string | null {
  if (typeof value === 'string') {
    if (value.startsWith('0x')) return value;
    if (value.startsWith('0X')) return `0x${value.slice(2)}`;
    return value.length <= MAX_DECIMAL_DIGITS && /^[0-9]+$/.test(value) ? toQuantity(BigInt(value)) : null;
  }
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? toQuantity(value) : null;
}

/** The integer of a quantity in any spelling that nodes use; NaN if it is none or exceeds 2^53 - 1. */
export function spelledNumber(value: unknown): number {
  const number = quantityToNumber(value);
  if (!Number.isNaN(number)) return number;
  const text = spelledQuantity(value);
  return text === '0x' ? 0 : quantityToNumber(text);
}

/** The integer of up to 256 bits of a quantity in any spelling that nodes use; null if it is none. */
export function spelledBigInt(value: unknown): bigint | null {
  const digits = spelledQuantity(value)?.slice(2).replace(/^0+/, '');
  return digits !== undefined && /^[0-9a-f]{0,64}$/i.test(digits) ? digitsToBigInt(digits) : null;
}

/** Whether a value spells the hex text `lower`, which is in lower case, in any case. */
export function isSameHex(value: unknown, lower: string): boolean {
  return value === lower || (typeof value === 'string' && value.toLowerCase() === lower);
}

/** Quantity (`0x1b4`) of a non-negative integer. */
export function toQuantity(value: number | bigint): Hex {
  return `0x${value.toString(16)}`;
}

/** A `0x`-prefixed lower-case hex string. */
export type Hex = `0x${string}`;

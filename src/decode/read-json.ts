/** Checked reads of the node's JSON. A wrong type is the node's fault and worth a retry, hence an UpstreamError. */
import { UpstreamError } from '../lib/errors.ts';
import { isSameHex, spelledBigInt, spelledNumber, spelledQuantity } from '../lib/hex.ts';
import { LazyJsonArray } from '../lib/projection.ts';
import { anotherNode } from '../lib/setting-name.ts';
import { isObject, previewValue } from '../lib/text.ts';
export type JsonObject = Record<string, unknown>;

function malformed(what: string, value: unknown): UpstreamError {
  return new UpstreamError('malformed', `the node sent ${previewValue(value)} as ${what}`);
}

export function readObject(value: unknown, what: string): JsonObject {
  if (!isObject(value)) throw malformed(what, value);
  return value;
}

/** A list. Null is an empty one: Go nodes send a nil slice as null. A missing list is refused. */
export function readArray(value: unknown, what: string): unknown[] {
  if (value === null) return [];
  if (!Array.isArray(value)) throw malformed(what, value);
  return value;
}

/** A list whose items may be parsed lazily. */
export interface Items {
  readonly length: number;
  at(index: number): unknown;
  /** What parsing noticed about lazily parsed items. */
  readonly facts?: LazyJsonArray['facts'];
}

/** Whether `readItems` reads a value. */
export function isList(value: unknown): boolean {
  return value === null || Array.isArray(value) || value instanceof LazyJsonArray;
}

/** Like `readArray`. */
export function readItems(value: unknown, what: string): Items {
  return value instanceof LazyJsonArray ? value : readArray(value, what);
}

/** Frees the memory of a list that will not be read again. */
export function releaseItems(value: unknown): void {
  if (value instanceof LazyJsonArray) value.release();
}

/**
 * A `0x` text with exactly `digits` hex digits, in lower case, because some nodes send other cases and texts are
 * compared. The digits themselves are checked when they are converted to bytes.
 */
export function readHex(value: unknown, digits: number, what: string): string {
  if (typeof value !== 'string' || value.length !== digits + 2) throw malformed(what, value);
  const text = value.toLowerCase();
  if (!text.startsWith('0x')) throw malformed(what, value);
  return text;
}

export function hashOfBlock(block: JsonObject): string {
  return readHex(block['hash'], 64, 'block hash');
}

/** The 40 digits of an address. */
export function readAddress(value: unknown, what: string): string {
  return readHex(value, 40, what).slice(2);
}

/** The 40 digits of an address; null for none, which nodes send as null, `""`, `"0x"` or `"0x0"`, or leave out. */
export function readOptionalAddress(value: unknown, what: string): string | null {
  return isNone(value) ? null : readAddress(value, what);
}

/** What nodes send for no bytes; old Ganache `0x0`. */
const NOTHING: ReadonlySet<unknown> = new Set([undefined, null, '', '0x', '0X', '0x0']);

/** Whether a member is left out, null, or empty. */
export function isNone(value: unknown): boolean {
  return NOTHING.has(value);
}

/** Whether a value is the address with these 40 lower-case digits. */
export function isAddress(value: unknown, digits: string): boolean {
  return isSameHex(value, `0x${digits}`);
}

/** Bytes as a `0x` text of any length. Null and `""` are no bytes; a missing member is refused. */
export function readData(value: unknown, what: string): string {
  if (value === null || value === '') return '0x';
  if (typeof value !== 'string') throw malformed(what, value);
  if (value.startsWith('0x')) return value;
  if (!value.startsWith('0X')) throw malformed(what, value);
  return value.toLowerCase();
}

/** A quantity from 0 to `max`. The columns of a batch have 32 bits. */
export function readQuantity(value: unknown, what: string, max = 2 ** 32 - 1): number {
  const number = spelledNumber(value);
  if (!(number <= max)) throw malformed(what, value);
  return number;
}

/** An integer of up to 256 bits. */
export function readBigInt(value: unknown, what: string): bigint {
  const number = spelledBigInt(value);
  if (number === null) throw malformed(what, value);
  return number;
}

/** A quantity of up to 256 bits as `0x` text; zero when absent (typed transactions without `value`). */
export function readAmount(value: unknown, what: string): string {
  if (value === undefined || value === null) return '0x';
  const text = spelledQuantity(value);
  if (text === null) throw malformed(what, value);
  if (text.length <= 66) return text;
  const shorter = text.replace(/^0x0+/, '0x');
  if (shorter.length > 66) throw malformed(what, value);
  return shorter;
}

/**
 * Whether a transaction succeeded; null for a receipt from before Byzantium, which does not say. Nodes send a quantity
 * in any spelling, and libraries in front of them a boolean.
 */
export function readStatus(value: unknown): boolean | null {
  if (value === '0x1' || value === true) return true;
  if (value === '0x0' || value === false) return false;
  if (value === undefined || value === null) return null;
  return readQuantity(value, 'receipt status', 1) === 1;
}

/** True for `0x`, `0x0`, `0x000`... */
export function isZero(quantity: string): boolean {
  for (let i = 2; i < quantity.length; i++) if (quantity.charCodeAt(i) !== 48) return false;
  return true;
}

/** Runs `read`. An answer that cannot be understood is refused with the number of its block, and the way out. */
export function readingBlock<T>(block: JsonObject, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error;
    const number = spelledNumber(block['number']);
    const name = Number.isNaN(number) ? previewValue(block['hash']) : number;
    const advice = error.reason === 'malformed' ? `; ${anotherNode()}` : '';
    throw new UpstreamError(error.reason, `block ${name}: ${error.message}${advice}`, error.code, {
      cause: error,
    });
  }
}

/** Checked reads of the node's JSON. A wrong type is the node's fault and worth a retry, hence an UpstreamError. */
import { UpstreamError } from '../lib/errors.ts';
import { quantityToNumber } from '../lib/hex.ts';
import { LazyJsonArray } from '../lib/json-projection.ts';
import { isObject, previewValue } from '../lib/text.ts';
export type JsonObject = Record<string, unknown>;

function malformed(what: string, value: unknown): UpstreamError {
  return new UpstreamError('malformed', `the node sent ${previewValue(value)} as ${what}`);
}

export function readObject(value: unknown, what: string): JsonObject {
  if (!isObject(value)) throw malformed(what, value);
  return value;
}

export function readArray(value: unknown, what: string): unknown[] {
  if (!Array.isArray(value)) throw malformed(what, value);
  return value;
}

/** A list whose items may be parsed lazily. */
export interface Items {
  readonly length: number;
  at(index: number): unknown;
}

export function readItems(value: unknown, what: string): Items {
  return value instanceof LazyJsonArray ? value : readArray(value, what);
}

/** Frees the memory of a list that will not be read again. */
export function releaseItems(value: unknown): void {
  if (value instanceof LazyJsonArray) value.release();
}

/**
 * A `0x` string with exactly `digits` hex digits. The digits themselves are checked when they are converted to bytes.
 */
export function readHex(value: unknown, digits: number, what: string): string {
  if (typeof value !== 'string' || value.length !== digits + 2 || !value.startsWith('0x'))
    throw malformed(what, value);
  return value;
}

/** The 40 digits of an address in lower case, because some nodes send checksummed addresses. */
export function readAddress(value: unknown, what: string): string {
  return readHex(value, 40, what).slice(2).toLowerCase();
}

/** Whether a value is the address with these 40 lower-case digits. */
export function isAddress(value: unknown, digits: string): boolean {
  return typeof value === 'string' && value.toLowerCase() === `0x${digits}`;
}

/** A `0x` string of any length: data, or a quantity whose digits are used unchanged. */
export function readData(value: unknown, what: string): string {
  if (typeof value !== 'string' || !value.startsWith('0x')) throw malformed(what, value);
  return value;
}

/** A quantity from 0 to `max`. The columns of a batch have 32 bits. */
export function readQuantity(value: unknown, what: string, max = 2 ** 32 - 1): number {
  const number = quantityToNumber(value);
  if (!(number <= max)) throw malformed(what, value);
  return number;
}

/** An integer of any number of hex digits. */
export function readBigInt(value: string, what: string): bigint {
  if (!/^0x[0-9a-fA-F]+$/.test(value)) throw malformed(what, value);
  return BigInt(value);
}

/** A quantity of up to 256 bits as `0x` text; zero when absent (typed transactions without `value`). */
export function readAmount(value: unknown, what: string): string {
  if (value === undefined || value === null) return '0x';
  const text = readData(value, what);
  if (text.length > 66) throw malformed(what, value);
  return text;
}

/** True for `0x`, `0x0`, `0x000`... */
export function isZero(quantity: string): boolean {
  for (let i = 2; i < quantity.length; i++) if (quantity.charCodeAt(i) !== 48) return false;
  return true;
}

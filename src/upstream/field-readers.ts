/** Checks of single values in node answers; each failure is an UpstreamError `malformed` naming method and field. */
import { quantityToNumber } from '../lib/hex.ts';
import { previewValue } from '../lib/preview-value.ts';
import type { Hex } from '../types.ts';
import { malformed } from './reply.ts';

/** A non-negative integer of at most 2^53 - 1, from a quantity such as `0x1b4`. */
export function readQuantity(value: unknown, method: string, field: string): number {
  const number = quantityToNumber(value);
  if (Number.isNaN(number)) throw malformed(method, `${field} is ${previewValue(value)}, not a quantity`);
  return number;
}

/** A 32-byte hash, in lower case. */
export function readHash(value: unknown, method: string, field: string): Hex {
  if (typeof value !== 'string' || !/^0x[0-9a-fA-F]{64}$/.test(value)) {
    throw malformed(method, `${field} is ${previewValue(value)}, not a hash`);
  }
  return `0x${value.slice(2).toLowerCase()}`;
}

export function readText(value: unknown, method: string, field: string): string {
  if (typeof value !== 'string') throw malformed(method, `${field} is ${previewValue(value)}, not a text`);
  return value;
}

/**
 * Random ids that are canonical quantities. Many clients parse an id as an integer and send it back without leading
 * zeros.
 */
import { randomBytes, randomInt } from 'node:crypto';
import { bytesToHex, type Hex } from './hex.ts';

/** `0x` and 32 hex digits. All ids have this length. */
export const ID_CHARS = 34;

/** Longest accepted spelling of an id: a 256-bit word. */
const MAX_CHARS = 66;

const QUANTITY = /^0x0*([0-9a-f]+)$/;

/** A new id in lower case, whose first digit is not zero. */
export function newQuantityId(): Hex {
  const bytes = randomBytes((ID_CHARS - 2) / 2);
  bytes[0] = randomInt(0x10, 0x100);
  return bytesToHex(bytes);
}

/** The id that a client's value spells, in any case and with or without leading zeros; null if it spells none. */
export function readQuantityId(value: unknown): string | null {
  if (typeof value !== 'string' || value.length > MAX_CHARS) return null;
  const digits = QUANTITY.exec(value.toLowerCase())?.[1];
  return digits === undefined ? null : `0x${digits}`;
}

/** The time of a block. A few chains count it in milliseconds. */
import { UpstreamError } from '../lib/errors.ts';
import { readQuantity } from './read-json.ts';
import type { DecodeRules } from './rules.ts';

/** The first timestamp in milliseconds: of the year 1973, and as seconds of the year 5138. */
const FIRST_MILLISECONDS = 100_000_000_000;

/** The latest time that a Date can represent, milliseconds. */
const MAX_MILLISECONDS = 8_640_000_000_000_000;

/** Thrown for a timestamp in milliseconds where the rules do not expect any. */
export class InMilliseconds extends UpstreamError {
  override name = 'InMilliseconds';
}

export function isInMilliseconds(timestamp: number): boolean {
  return timestamp >= FIRST_MILLISECONDS;
}

/** Development nodes and chains that keep time as a float send fractions of a second. */
export function withoutFraction(value: unknown): unknown {
  if (typeof value === 'number') return Math.floor(value);
  return typeof value === 'string' ? value.replace(/^(\d+)\.\d+$/, '$1') : value;
}

/**
 * Reads a timestamp as Unix seconds. A chain in milliseconds may have a first block in seconds. Throws InMilliseconds
 * for one block in milliseconds: the others are in seconds.
 */
export function readBlockTime(value: unknown, { milliseconds = false }: DecodeRules): number {
  const timestamp = readQuantity(withoutFraction(value), 'timestamp', MAX_MILLISECONDS);
  if (!isInMilliseconds(timestamp)) return timestamp;
  if (milliseconds) return Math.floor(timestamp / 1_000);
  throw new InMilliseconds(
    'malformed',
    `the timestamp ${timestamp} is in milliseconds, those of the chain are not`,
  );
}

/** A hash table of slot numbers: finds records that live in typed arrays. Open addressing with linear probing. */
import { randomInt } from 'node:crypto';

const MIN_PLACES = 1_024;

/** When a commit used less than this fraction of the memory, the rest is freed: a backfill is over. */
const KEPT_PART = 1 / 8;

/** Whether a table or a buffer of `capacity` that held `used` should shrink. */
export function isOversized(capacity: number, used: number): boolean {
  return capacity > MIN_PLACES && used < capacity * KEPT_PART;
}

/** Attackers choose addresses. This secret keeps them from choosing addresses that collide. */
const SEED = randomInt(2 ** 32) | 0;

function mixHash(hash: number, value: number): number {
  const mixed = Math.imul(hash ^ value, 0x9e3779b1);
  return mixed ^ (mixed >>> 15);
}

export function hashOfNumbers(low: number, high: number): number {
  return mixHash(mixHash(SEED, low | 0), high | 0);
}

/** The hash of the bytes from `start` to `end`, a whole number of words. */
export function hashOfBytes(bytes: Uint8Array, start: number, end: number): number {
  let hash = SEED;
  for (let at = start; at < end; at += 4)
    hash = mixHash(
      hash,
      bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24),
    );
  return hash;
}

/**
 * To find a record, probe from `placeOf(hash)` with `after` until a place is EMPTY. A new record goes into that place.
 */
export const EMPTY = -1;

export class SlotTable {
  private places = new Int32Array(MIN_PLACES).fill(EMPTY);
  private used = 0;

  /** Memory used, bytes. */
  get bytes(): number {
    return this.places.byteLength;
  }

  clear(): void {
    if (isOversized(this.places.length, this.used)) this.places = new Int32Array(MIN_PLACES);
    this.places.fill(EMPTY);
    this.used = 0;
  }

  placeOf(hash: number): number {
    return hash & (this.places.length - 1);
  }

  after(place: number): number {
    return (place + 1) & (this.places.length - 1);
  }

  slotAt(place: number): number {
    return this.places[place]!;
  }

  /** Puts a slot into an empty place. `hashOf` returns the hash of any slot in the table, including this one. */
  put(place: number, slot: number, hashOf: (slot: number) => number): void {
    this.places[place] = slot;
    if (++this.used * 2 <= this.places.length) return;
    const before = this.places;
    this.places = new Int32Array(before.length * 2).fill(EMPTY);
    for (const moved of before) if (moved !== EMPTY) this.places[this.emptyPlace(hashOf(moved))] = moved;
  }

  private emptyPlace(hash: number): number {
    let place = this.placeOf(hash);
    while (this.places[place] !== EMPTY) place = this.after(place);
    return place;
  }
}

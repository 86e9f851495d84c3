/** Random numbers, passed as parameters so that tests are repeatable. */
import type { Hex } from './hex.ts';

/** Numbers in [0, 1). */
export type Random = () => number;

/** A whole number from `from` to `to`, inclusive. */
export function randomInt(random: Random, from: number, to: number): number {
  return from + Math.floor(random() * (to - from + 1));
}

/**
 * Deterministic pseudo-random numbers: xoshiro128** seeded by splitmix32 with 32 bits. The same seed generates the same
 * chain or traffic on every machine, so the order of the draws is part of the definition.
 */
export class Prng {
  private readonly state = new Int32Array(4);
  /** Room for the bytes of a hash. */
  private readonly bytes = Buffer.alloc(32);

  constructor(seed: number) {
    let counter = seed >>> 0;
    for (let i = 0; i < 4; i++) {
      counter = (counter + 0x9e3779b9) >>> 0;
      this.state[i] = splitmix32(counter);
    }
  }

  /** An integer from 0 to 2^32 - 1. */
  uint32(): number {
    const state = this.state;
    const s1 = state[1]!;
    const result = Math.imul(rotateLeft(Math.imul(s1, 5), 7), 9);
    state[2]! ^= state[0]!;
    state[3]! ^= s1;
    state[1]! ^= state[2]!;
    state[0]! ^= state[3]!;
    state[2]! ^= s1 << 9;
    state[3] = rotateLeft(state[3]!, 11);
    return result >>> 0;
  }

  /** A number from 0 to below 1. */
  fraction(): number {
    return this.uint32() / 4294967296;
  }

  /** An integer from 0 to below `limit`. */
  below(limit: number): number {
    return Math.floor(this.fraction() * limit);
  }

  /** An integer from `low` to `high`, inclusive. */
  between(low: number, high: number): number {
    return low + this.below(high - low + 1);
  }

  /** An amount in base units: `low` to `high` thousandths of `unit`, inclusive. */
  amount(low: number, high: number, unit: bigint): bigint {
    return (BigInt(this.between(low, high)) * unit) / 1000n;
  }

  /** True with the given probability. */
  chance(probability: number): boolean {
    return this.fraction() < probability;
  }

  /**
   * An index below `length`, with probability proportional to 1 / (index + 1): few busy and many rare ones, as on real
   * chains.
   */
  zipfIndex(length: number): number {
    return Math.min(length - 1, Math.floor((length + 1) ** this.fraction()) - 1);
  }

  /** Any element, with equal probability. The list must not be empty. */
  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)]!;
  }

  /** An element at index `zipfIndex`. The list must not be empty. */
  pickZipf<T>(list: readonly T[]): T {
    return list[this.zipfIndex(list.length)]!;
  }

  /** Eight hex digits. */
  digits(): string {
    return this.hex(1);
  }

  /** 32 bytes for a hash or a signature part. */
  hash(): Hex {
    return `0x${this.hex(8)}`;
  }

  /** 20 bytes for an address. */
  address(): Hex {
    return `0x${this.hex(5)}`;
  }

  private hex(words: number): string {
    for (let i = 0; i < words; i++) this.bytes.writeUInt32BE(this.uint32(), i * 4);
    return this.bytes.toString('hex', 0, words * 4);
  }
}

function rotateLeft(value: number, bits: number): number {
  return (value << bits) | (value >>> (32 - bits));
}

function splitmix32(counter: number): number {
  let mixed = counter ^ (counter >>> 16);
  mixed = Math.imul(mixed, 0x21f0aaad);
  mixed ^= mixed >>> 15;
  mixed = Math.imul(mixed, 0x735a2d97);
  return mixed ^ (mixed >>> 15);
}

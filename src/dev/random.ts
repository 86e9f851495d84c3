/** Pseudo-random numbers that are the same for the same seed, so that a demo chain can be reproduced. */

export interface SeededRandom {
  /** Whole number from `low` to `high`, both included. */
  between(low: number, high: number): number;
  /** Amount of base units from `low` to `high` thousandths of `unit`, both included. */
  amount(low: number, high: number, unit: bigint): bigint;
}

/** Generator for a seed (32 bits of it count): Mulberry32. */
export function seededRandom(seed: number): SeededRandom {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const between = (low: number, high: number) => low + Math.floor(next() * (high - low + 1));
  return {
    between,
    amount: (low, high, unit) => (BigInt(between(low, high)) * unit) / 1000n,
  };
}

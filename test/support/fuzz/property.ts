/** A property that must hold for every input, run briefly in tests and at length by scripts/soak/fuzz.ts. */
import fc from 'fast-check';

export interface Property {
  /** What the inputs are. */
  name: string;
  /** Relative cost of one run: this many times fewer runs are made. */
  cost: number;
  /** Runs with the random inputs of the seed. Throws with the smallest failing input found. */
  check(options: { runs: number; seed: number; timeLimitMs?: number }): void;
}

export function property<T>(
  name: string,
  inputs: fc.Arbitrary<T>,
  holds: (input: T) => void,
  cost = 1,
): Property {
  return {
    name,
    cost,
    check({ runs, seed, timeLimitMs }) {
      fc.assert(fc.property(inputs, holds), {
        numRuns: Math.max(1, Math.round(runs / cost)),
        seed,
        ...(timeLimitMs !== undefined && {
          interruptAfterTimeLimit: timeLimitMs,
          markInterruptAsFailure: false,
        }),
      });
    },
  };
}

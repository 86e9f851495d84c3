/** Something that must hold for every input, to be run briefly in tests and for long by scripts/soak/fuzz.ts. */
import fc from 'fast-check';

export interface Property {
  /** What the inputs are. */
  name: string;
  /** How much longer than others one run takes: so many times fewer are made. */
  cost: number;
  /** Runs with the random inputs of the seed; throws with the smallest failing one found. */
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

/** Choosing samples, and working through them. */

/** Numbers in [0, 1). */
export type Random = () => number;

/** A whole number from `from` to `to`, both included. */
export function randomInt(random: Random, from: number, to: number): number {
  return from + Math.floor(random() * (to - from + 1));
}

/**
 * Up to `count` distinct numbers from `from` to `to`, ascending: all of them if they are that few, else both ends and
 * random others.
 */
export function sampleRange(random: Random, from: number, to: number, count: number): number[] {
  if (to < from) return [];
  if (to - from < count) return Array.from({ length: to - from + 1 }, (_, i) => from + i);
  const chosen = new Set([from, to]);
  while (chosen.size < count) chosen.add(randomInt(random, from, to));
  return [...chosen].sort((a, b) => a - b);
}

/** Runs `work` on every item, `concurrency` at a time; rejects with the first failure once all running ones have ended. */
export async function forEachConcurrently<T>(
  items: readonly T[],
  concurrency: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const rest = items[Symbol.iterator]();
  let failed = false;
  const run = async (): Promise<void> => {
    for (const item of rest) {
      if (failed) return;
      await work(item).catch((error: unknown) => {
        failed = true;
        throw error;
      });
    }
  };
  const runs = await Promise.allSettled(Array.from({ length: concurrency }, run));
  for (const outcome of runs) if (outcome.status === 'rejected') throw outcome.reason;
}

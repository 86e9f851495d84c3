/** Random numbers passed as a parameter, so that tests are repeatable. */

/** Numbers in [0, 1). */
export type Random = () => number;

/** A whole number from `from` to `to`, both included. */
export function randomInt(random: Random, from: number, to: number): number {
  return from + Math.floor(random() * (to - from + 1));
}

/** Finds where two chains diverge. */

/**
 * The highest block at or below `from` on which both agree, `start - 1` if there is none. Two chains share a prefix, so
 * the search goes back in doubling steps and then bisects: a fork of any depth costs a few dozen comparisons.
 */
export async function findForkPoint(
  from: number,
  start: number,
  agree: (number: number) => Promise<boolean>,
): Promise<number> {
  let differs = from + 1;
  let same = from;
  for (let step = 1; same >= start && !(await agree(same)); step *= 2) {
    differs = same;
    same -= step;
  }
  same = Math.max(same, start - 1);
  while (differs - same > 1) {
    const middle = Math.floor((same + differs) / 2);
    if (await agree(middle)) same = middle;
    else differs = middle;
  }
  return same;
}

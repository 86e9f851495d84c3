/** Finds where known blocks and the node's canonical chain diverge. */

/**
 * The highest block at or below `from` on which both agree, `start - 1` if there is none. `local` and `remote` return
 * the hash at a height. Two chains share a prefix, so the search goes back in doubling steps and then bisects: a fork
 * of any depth costs a few dozen headers.
 */
export async function findForkPoint(
  from: number,
  start: number,
  local: (number: number) => string | null | undefined,
  remote: (number: number) => Promise<string>,
): Promise<number> {
  const agree = async (number: number): Promise<boolean> => local(number) === (await remote(number));
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

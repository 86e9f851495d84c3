/** Suggestions for mistyped names. */

/** The candidate closest to a mistyped name, which may be a dotted path; undefined if none is close. */
export function closestMatch(mistyped: string, candidates: Iterable<string>): string | undefined {
  let best: string | undefined;
  let bestDistance = Number.POSITIVE_INFINITY;
  const typed = mistyped.toLowerCase();
  for (const candidate of candidates) {
    const known = candidate.toLowerCase();
    const distance = Math.min(editDistance(typed, known), lastKeyDistance(typed, known));
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance];
  }
  return bestDistance <= Math.max(2, Math.floor(mistyped.length / 4)) ? best : undefined;
}

/** Edit distance of the last keys alone, plus one, because the right key in the wrong table is a common mistake. */
function lastKeyDistance(a: string, b: string): number {
  return 1 + editDistance(a.slice(a.lastIndexOf('.') + 1), b.slice(b.lastIndexOf('.') + 1));
}

/** The fewest insertions, deletions, replacements and swaps of neighbouring characters that turn `a` into `b`. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  let rowBefore = row;
  for (let i = 0; i < a.length; i++) {
    const next = [i + 1];
    for (let j = 0; j < b.length; j++) {
      const replaced = row[j]! + (a[i] === b[j] ? 0 : 1);
      const isSwap = i > 0 && j > 0 && a[i] === b[j - 1] && a[i - 1] === b[j];
      const swapped = isSwap ? rowBefore[j - 1]! + 1 : Number.POSITIVE_INFINITY;
      next.push(Math.min(replaced, swapped, row[j + 1]! + 1, next[j]! + 1));
    }
    rowBefore = row;
    row = next;
  }
  return row[b.length]!;
}

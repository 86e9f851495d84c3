/** Helpers for values and texts in messages, such as suggestions for mistyped names. */

/** A short preview of any value. Never calls the value's own `toString`, which may do anything. */
export function previewValue(value: unknown): string {
  try {
    return (JSON.stringify(value) ?? 'missing').slice(0, 80);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return 'a value nested too deep to show';
  }
}

/** Whether to omit colours: NO_COLOR is set (https://no-color.org) or the terminal has none. */
export function isColourless(): boolean {
  return Boolean(process.env.NO_COLOR) || process.env.TERM === 'dumb';
}

/** Copies a text for storage: a slice would keep the whole original in memory. */
export function detachString(text: string): string {
  return Buffer.from(text).toString();
}

/** A host and a port as written in a URL: an IPv6 address in brackets. */
export function hostPort(host: string, port: number): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** Whether a parsed JSON value is an object: neither null nor a list. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The candidate closest to a mistyped name, which may be a dotted path; undefined if none is close. */
export function closestMatch(mistyped: string, candidates: Iterable<string>): string | undefined {
  let best: string | undefined;
  let bestDistance = Number.POSITIVE_INFINITY;
  for (const candidate of candidates) {
    const distance = Math.min(editDistance(mistyped, candidate), lastKeyDistance(mistyped, candidate));
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

/** Compares rows as text, such as those of `dumpIndex`. */
import assert from 'node:assert/strict';

/** Fails with `what` and the first differing rows, because all of them would fill the screen. */
export function assertSameRows(actual: readonly string[], expected: readonly string[], what = ''): void {
  const without = (rows: readonly string[], others: ReadonlySet<string>) =>
    rows.filter((row) => !others.has(row)).slice(0, 5);
  assert.deepEqual(
    [what, ...without(actual, new Set(expected))],
    [what, ...without(expected, new Set(actual))],
  );
  assert.equal(actual.length, expected.length, `${what} number of rows`);
}

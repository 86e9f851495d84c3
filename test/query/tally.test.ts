import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Tally } from '../../src/query/tally.ts';
import { nativeEntry } from '../support/activity-entry.ts';

test('sums are exact, however many entries and however large', () => {
  const most = 2n ** 96n - 1n;
  const cursor = nativeEntry(1, 7, most);
  const tally = new Tally(1);
  tally.begin(7);
  const row = tally.rowOf(7)!;
  const times = 2 ** 20 + 2 ** 19; // past the point where limbs are carried over
  for (let i = 0; i < times; i++) row.add(cursor);
  row.add(nativeEntry(2, 7, 2n ** 256n - 1n));
  row.add(nativeEntry(3, 7, 5n));
  assert.deepEqual(tally.list(), [
    {
      other: 7,
      count: times + 2,
      wei: most * BigInt(times) + 2n ** 256n - 1n + 5n,
      first: 1,
      last: 3,
    },
  ]);
});

test('rows are listed in the order in which they were begun', () => {
  const tally = new Tally(3);
  for (const other of [9, 2, 2]) tally.begin(other);
  assert.equal(tally.isFull, false);
  tally.begin(5);
  assert.deepEqual(
    tally.list().map(({ other }) => other),
    [9, 2, 5],
  );
  assert.equal(tally.isFull, true);
  for (const other of [4, 9 + 4096, 2 + 8192]) assert.equal(tally.rowOf(other), undefined);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bigIntToBytes } from '../../src/lib/hex.ts';
import { Tally } from '../../src/query/tally.ts';
import { ActivityCursor, Flag, writeEntry } from '../../src/store/activity.ts';
import { Kind } from '../../src/types.ts';

/** A cursor that stands on one native entry. */
function entry(transfer: number, other: number, wei: bigint): ActivityCursor {
  const bytes = new Uint8Array(64);
  const end = writeEntry(bytes, 0, transfer, Kind.nativeDirect | Flag.in, other, bigIntToBytes(wei));
  const cursor = new ActivityCursor().open(bytes.subarray(0, end));
  cursor.next();
  return cursor;
}

test('sums are exact, however many entries and however large', () => {
  const most = 2n ** 96n - 1n;
  const cursor = entry(1, 7, most);
  const tally = new Tally(1);
  tally.begin(7);
  const row = tally.rowOf(7)!;
  const times = 2 ** 20 + 2 ** 19; // past the point where limbs are carried over
  for (let i = 0; i < times; i++) row.add(cursor, false);
  row.add(entry(2, 7, 2n ** 256n - 1n), false);
  row.add(entry(3, 7, 5n), true);
  assert.deepEqual(tally.list(), [
    {
      other: 7,
      inCount: times + 1,
      outCount: 1,
      inWei: most * BigInt(times) + 2n ** 256n - 1n,
      outWei: 5n,
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

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bigIntToBytes } from '../../src/lib/hex.ts';
import { RowNumbers } from '../../src/query/row-numbers.ts';
import { Tally } from '../../src/query/tally.ts';
import { ActivityCursor, Flag, writeEntry } from '../../src/store/activity.ts';
import { Kind } from '../../src/types.ts';
import { randomSource } from '../support/random-chain.ts';

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
  const tally = new Tally();
  const times = 2 ** 20 + 2 ** 19; // past the point where limbs are carried over
  for (let i = 0; i < times; i++) tally.add(cursor, false);
  tally.add(entry(2, 7, 2n ** 256n - 1n), false);
  tally.add(entry(3, 7, 5n), true);
  const [row] = tally.busiest(1);
  assert.equal(row?.inWei, most * BigInt(times) + 2n ** 256n - 1n);
  assert.deepEqual([row?.inCount, row?.outCount, row?.outWei], [times + 1, 1, 5n]);
});

test('rows, ranks and ends equal those of a plain grouping', () => {
  const random = randomSource(5);
  const tally = new Tally();
  const plain = new Map<number, { count: number; wei: bigint; first: number; last: number }>();
  const order = Array.from({ length: 20_000 }, (_, i) => i + 1).sort(() => random() - 0.5);
  for (const transfer of order) {
    const other = Math.floor(random() ** 3 * 6_000);
    const wei = BigInt(Math.floor(random() * 2 ** 40)) ** 3n;
    tally.add(entry(transfer, other, wei), true);
    const row = plain.get(other) ?? { count: 0, wei: 0n, first: transfer, last: transfer };
    plain.set(other, {
      count: row.count + 1,
      wei: row.wei + wei,
      first: Math.min(row.first, transfer),
      last: Math.max(row.last, transfer),
    });
  }
  const expected = [...plain].map(([other, { count, wei, first, last }]) => {
    return { other, inCount: 0, outCount: count, inWei: 0n, outWei: wei, first, last };
  });
  const busiest = expected.toSorted((a, b) => b.outCount - a.outCount || b.last - a.last);
  const latest = expected.toSorted((a, b) => b.last - a.last);
  for (const limit of [1, 200, 10_000]) {
    assert.deepEqual(tally.busiest(limit), busiest.slice(0, limit));
    assert.deepEqual(tally.latest(limit), latest.slice(0, limit));
  }
});

test('row numbers are given in order of appearance and found again', () => {
  const numbers = new RowNumbers();
  const keys = [0, 2 ** 31 - 1, 1, ...Array.from({ length: 5_000 }, (_, i) => i * 128 + 3)];
  assert.deepEqual(
    keys.map((key) => numbers.of(key)),
    keys.map((_, i) => i),
  );
  assert.deepEqual(
    keys.toReversed().map((key) => numbers.of(key)),
    keys.map((_, i) => i).reverse(),
  );
  assert.equal(numbers.size, keys.length);
});

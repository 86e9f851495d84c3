import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bigIntToBytes } from '../../src/lib/hex.ts';
import { Ranking } from '../../src/query/ranking.ts';
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
  const tally = new Tally();
  for (const other of [9, 2, 5, 2]) tally.begin(other);
  assert.deepEqual(
    tally.list().map(({ other }) => other),
    [9, 2, 5],
  );
  assert.equal(tally.size, 3);
  assert.equal(tally.rowOf(4), undefined);
});

test('a ranking equals sorting a plain grouping, with ties by the latest transfer', () => {
  const random = randomSource(5);
  const ranking = new Ranking();
  const plain = new Map<number, { count: number; last: number }>();
  const order = Array.from({ length: 60_000 }, (_, i) => i + 1).sort(() => random() - 0.5);
  const ids = [0, 1, 2 ** 31 - 2, ...Array.from({ length: 20_000 }, (_, i) => i * 128 + 3)];
  for (let at = 0; at < order.length; at += 100) {
    const transfers = Float64Array.from(order.slice(at, at + 100));
    const others = Int32Array.from(transfers, () => ids[Math.floor(random() ** 3 * ids.length)]!);
    ranking.add(others, transfers, transfers.length);
    others.forEach((other, i) => {
      const row = plain.get(other) ?? { count: 0, last: 0 };
      plain.set(other, { count: row.count + 1, last: Math.max(row.last, transfers[i]!) });
    });
  }
  const sorted = [...plain]
    .sort(([, a], [, b]) => b.count - a.count || b.last - a.last)
    .map(([other]) => other);
  for (const limit of [1, 200]) assert.deepEqual(ranking.top(limit), sorted.slice(0, limit));
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RecipientTable } from '../../src/query/recipient-table.ts';
import { nativeEntry } from '../support/activity-entry.ts';

test('sums are exact, however many entries and however large', () => {
  const most = 2n ** 96n - 1n;
  const cursor = nativeEntry(1, 7, most);
  const tally = new RecipientTable(1);
  tally.addRow(7);
  const row = tally.rowOf(7)!;
  const times = 2 ** 20 + 2 ** 19; // past the point where limbs are carried over
  for (let i = 0; i < times; i++) row.add(cursor);
  row.add(nativeEntry(2, 7, 2n ** 256n - 1n));
  row.add(nativeEntry(3, 7, 5n));
  assert.deepEqual(tally.list(), [
    {
      recipient: 7,
      count: times + 2,
      wei: most * BigInt(times) + 2n ** 256n - 1n + 5n,
      firstTransfer: 1,
      lastTransfer: 3,
    },
  ]);
});

test('rows are listed in the order in which they were begun', () => {
  const tally = new RecipientTable(3);
  for (const recipient of [9, 2, 2]) tally.addRow(recipient);
  assert.equal(tally.isFull, false);
  tally.addRow(5);
  assert.deepEqual(
    tally.list().map(({ recipient }) => recipient),
    [9, 2, 5],
  );
  assert.equal(tally.isFull, true);
  for (const recipient of [4, 9 + 4096, 2 + 8192]) assert.equal(tally.rowOf(recipient), undefined);
});

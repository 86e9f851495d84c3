import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RecipientTable } from '../../src/query/funded-wallets.ts';
import { nativeEntry } from '../support/index/activity-entry.ts';

test('sums are exact, however many entries and however large', () => {
  const most = 2n ** 96n - 1n;
  const cursor = nativeEntry(1, 7, most);
  const table = new RecipientTable(1);
  table.addRow(7, 1);
  const row = table.rowOf(7)!;
  const times = 2 ** 20 + 2 ** 19; // past the point where limbs are carried over
  for (let i = 0; i < times; i++) row.add(cursor);
  row.add(nativeEntry(2, 7, 2n ** 256n - 1n));
  row.add(nativeEntry(3, 7, 5n));
  assert.deepEqual(table.list(), [
    {
      recipient: 7,
      count: times + 2,
      wei: most * BigInt(times) + 2n ** 256n - 1n + 5n,
      firstTransfer: 1,
      lastTransfer: 3,
    },
  ]);
});

test('rows are listed in the order in which they were added', () => {
  const table = new RecipientTable(3);
  for (const recipient of [9, 2, 2]) table.addRow(recipient, 1);
  assert.equal(table.isFull, false);
  table.addRow(5, 1);
  assert.deepEqual(
    table.list().map(({ recipient }) => recipient),
    [9, 2, 5],
  );
  assert.equal(table.isFull, true);
  for (const recipient of [4, 9 + 4096, 2 + 8192]) assert.equal(table.rowOf(recipient), undefined);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { prepareWalletHistory } from '../../src/query/stream-reads.ts';
import { prepareWalletIdByAddress } from '../../src/query/wallets.ts';
import { ENTRIES_PER_PAGE } from '../../src/store/wallet-history.ts';
import { address, createIndex, type NamedTransfer } from '../support/index/index-fixture.ts';

test('reading on gives every transfer of a range once, oldest first, wherever its pages begin and end', (t) => {
  for (const count of [
    1,
    ENTRIES_PER_PAGE - 1,
    ENTRIES_PER_PAGE,
    ENTRIES_PER_PAGE + 1,
    9 * ENTRIES_PER_PAGE + 5,
  ]) {
    const index = createIndex(t);
    const transfers: NamedTransfer[] = [];
    const ids: number[] = [];
    for (let i = 0; ids.length < count; i++) {
      const concerned = i % 3 !== 2;
      transfers.push({ from: concerned ? 'hub' : 'someone', to: 'other' });
      if (concerned) ids.push(i + 1);
    }
    index.append([{ transaction: transfers }]);
    const db = index.reader(t);
    const read = prepareWalletHistory(db);
    const wallet = prepareWalletIdByAddress(db)(address('hub'))!;
    const end = transfers.length + 1;
    for (const [from, below] of [
      [1, end],
      [2, end - 1],
      [ENTRIES_PER_PAGE, 2 * ENTRIES_PER_PAGE],
      [end - 2, end],
      [end, end + 5],
    ] as const) {
      const found: number[] = [];
      for (let next: number = from; next < below; ) {
        const piece = read(wallet, next, below);
        assert.ok(piece.ids.length > 0 || piece.next === below);
        found.push(...piece.ids);
        next = piece.next;
      }
      const wanted = ids.filter((id) => id >= from && id < below);
      assert.deepEqual(found, wanted, `${count} transfers, ${from} to ${below}`);
    }
  }
});

test('a short history is read at once', (t) => {
  const index = createIndex(t);
  index.append([{ transaction: [{ from: 'a', to: 'b' }] }]);
  const db = index.reader(t);
  const wallet = prepareWalletIdByAddress(db)(address('a'))!;
  assert.deepEqual(prepareWalletHistory(db)(wallet, 0, 100), { ids: [1], next: 100 });
});

test('a wallet without transfers has none', (t) => {
  const index = createIndex(t);
  index.append([{ transaction: [{ from: 'a', to: 'b' }] }]);
  assert.deepEqual(prepareWalletHistory(index.reader(t))(99, 1, 100), { ids: [], next: 100 });
});

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { TRANSFER_KIND_NAMES, TransferKind } from '../../src/model/transfer-kind.ts';
import { prepareHistoryIds } from '../../src/query/wallet-history-ids.ts';
import { prepareHistoryPages } from '../../src/query/wallet-history-pages.ts';
import {
  HistoryEnd,
  prepareFirstOfTransaction,
  prepareHistoryReading,
} from '../../src/query/wallet-history-reading.ts';
import { prepareWalletIdByAddress } from '../../src/query/wallets.ts';
import { deadlineBudget } from '../../src/query/work-budget.ts';
import { ENTRIES_PER_PAGE, HistoryFlag } from '../../src/store/wallet-history.ts';
import { address, createIndex, type NamedTransfer } from '../support/index/index-fixture.ts';

const BOTH = HistoryFlag.in | HistoryFlag.out;
/** Unlimited work. */
const FREELY = deadlineBudget(Infinity);
const ALL = (1 << TRANSFER_KIND_NAMES.length) - 1;

/** An index in which `hub` has `count` transfers, with other wallets in between. */
function hubIndex(t: TestContext, count: number) {
  const index = createIndex(t);
  const transfers: NamedTransfer[] = [];
  const ofHub: { id: number; kind: number; out: boolean }[] = [];
  for (let i = 0; ofHub.length < count; i++) {
    const kind = i % TRANSFER_KIND_NAMES.length;
    const name = TRANSFER_KIND_NAMES[kind]!;
    if (i % 3 === 2) {
      transfers.push({ kind: name, from: 'someone', to: 'else' });
    } else {
      const out = i % 7 < 3;
      transfers.push({ kind: name, from: out ? 'hub' : 'giver', to: out ? 'taker' : 'hub' });
      ofHub.push({ id: i + 1, kind, out });
    }
  }
  const blocks = Array.from({ length: Math.ceil(transfers.length / 50) }, (_, b) => ({
    [`transaction ${b}`]: transfers.slice(b * 50, b * 50 + 50),
  }));
  index.append(blocks);
  const db = index.reader(t);
  return { index, db, ofHub: ofHub.reverse(), wallet: prepareWalletIdByAddress(db)(address('hub'))! };
}

test('walking gives every entry once, newest first, whatever number of pages they fill', (t) => {
  for (const count of [
    1,
    ENTRIES_PER_PAGE - 1,
    ENTRIES_PER_PAGE,
    ENTRIES_PER_PAGE + 1,
    5 * ENTRIES_PER_PAGE + 7,
  ]) {
    const { db, wallet, ofHub } = hubIndex(t, count);
    const { ids } = prepareHistoryIds(db)(
      wallet,
      {
        from: 1,
        below: Infinity,
        direction: BOTH,
        kinds: ALL,
        limit: 1e6,
      },
      FREELY,
    );
    assert.deepEqual(
      ids,
      ofHub.map(({ id }) => id),
    );
  }
});

test('every combination of range, direction, kind and limit equals filtering the whole list', (t) => {
  const { db, wallet, ofHub } = hubIndex(t, 6 * ENTRIES_PER_PAGE + 40);
  const list = prepareHistoryIds(db);
  const newest = ofHub[0]!.id;
  for (const from of [1, 2, 300, newest - 50, newest, newest + 1]) {
    for (const below of [1, 2, 301, newest - 20, newest, newest + 1, Infinity]) {
      for (const direction of [HistoryFlag.in, HistoryFlag.out, BOTH]) {
        for (const kinds of [
          ALL,
          1 << TransferKind.nativeDirect,
          ALL & ~(1 << TransferKind.nativeInternal),
          0,
        ]) {
          for (const limit of [1, 3, 1e6]) {
            const expected = ofHub.filter(
              ({ id, kind, out }) =>
                id >= from &&
                id < below &&
                direction & (out ? HistoryFlag.out : HistoryFlag.in) &&
                (kinds >> kind) & 1,
            );
            assert.deepEqual(
              list(wallet, { from, below, direction, kinds, limit }, FREELY).ids,
              expected.slice(0, limit).map(({ id }) => id),
              JSON.stringify({ from, below, direction, kinds, limit }),
            );
          }
        }
      }
    }
  }
});

test('a page that ends with its work goes on where it ended, and the pages together are the whole list', (t) => {
  const { db, wallet, ofHub } = hubIndex(t, 6 * ENTRIES_PER_PAGE + 40);
  const list = prepareHistoryIds(db);
  for (const kinds of [ALL, 1 << TransferKind.nativeDirect, 0]) {
    const found: number[] = [];
    let pages = 0;
    for (let below: number | null = Infinity; below !== null; pages++) {
      const filter = { from: 1, below, direction: BOTH, kinds, limit: 1e6, maxEntries: ENTRIES_PER_PAGE };
      const { ids, resumeBelow } = list(wallet, filter, FREELY);
      assert.ok(ids.length <= ENTRIES_PER_PAGE);
      found.push(...ids);
      below = resumeBelow;
    }
    assert.ok(pages >= 6);
    assert.deepEqual(
      found,
      ofHub.filter(({ kind }) => (kinds >> kind) & 1).map(({ id }) => id),
    );
  }
});

test('only pages that can contain ids of the range are read', (t) => {
  const { db, wallet, ofHub } = hubIndex(t, 40 * ENTRIES_PER_PAGE);
  const runs = prepareHistoryPages(db);
  const oldest = ofHub.at(-1)!.id;
  assert.equal([...runs(wallet, { from: 1, below: Infinity }, FREELY)].length, 40);
  assert.equal([...runs(wallet, { from: ofHub[0]!.id, below: Infinity }, FREELY)].length, 1);
  assert.equal([...runs(wallet, { from: oldest, below: oldest + 1 }, FREELY)].length, 1);
  const middle = ofHub[20 * ENTRIES_PER_PAGE]!.id;
  assert.ok([...runs(wallet, { from: middle - 10, below: middle }, FREELY)].length <= 2);
});

test('a wallet without transfers has none', (t) => {
  const { db } = hubIndex(t, 3);
  assert.deepEqual(
    prepareHistoryIds(db)(
      999_999,
      { from: 1, below: Infinity, direction: BOTH, kinds: ALL, limit: 5 },
      FREELY,
    ),
    { ids: [], resumeBelow: null },
  );
  assert.equal(prepareWalletIdByAddress(db)(address('nobody')), undefined);
});

test('a reading gives whole transactions from the newest one, in pieces, wherever it ends', (t) => {
  const { db, wallet, ofHub } = hubIndex(t, 70 * ENTRIES_PER_PAGE + 9);
  const firstOf = prepareFirstOfTransaction(db);
  const all = ofHub.map(({ id }) => id);
  for (const most of [1, ENTRIES_PER_PAGE + 1, 40 * ENTRIES_PER_PAGE, 1e6])
    for (const [from, below] of [
      [1, 1e9],
      [501, 10_001],
    ] as const) {
      const end = new HistoryEnd(firstOf);
      const pieces = [...prepareHistoryReading(db, most)(wallet, { from, below }, end, FREELY)];
      const inRange = all.filter((id) => id >= from && id < below);
      const last = inRange[most - 1];
      assert.equal(end.readFrom, last === undefined ? null : firstOf(last));
      assert.deepEqual(
        pieces.reverse().flatMap((piece) => piece.map(({ id }) => id)),
        inRange.filter((id) => id >= (end.readFrom ?? from)).reverse(),
      );
    }
});

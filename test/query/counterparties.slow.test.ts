import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { TRANSFER_KIND_NAMES } from '../../src/model/transfer-kind.ts';
import { CounterpartyCache, prepareCounterparties } from '../../src/query/counterparties.ts';
import { prepareFundedWallets, type RecipientTotals } from '../../src/query/funded-wallets.ts';
import { prepareWalletIdByAddress } from '../../src/query/wallets.ts';
import { deadlineBudget } from '../../src/query/work-budget.ts';
import { PAGES_PER_FOLD } from '../../src/store/counterparty-sums.ts';
import { CounterpartyTable } from '../../src/store/counterparty-table.ts';
import { HistoryFlag } from '../../src/store/wallet-history.ts';
import { randomSource } from '../support/chain/random-chain.ts';
import { nativeEntry } from '../support/index/activity-entry.ts';
import {
  address,
  createIndex,
  type NamedBlock,
  type NamedTransfer,
  ZERO_ADDRESS,
} from '../support/index/index-fixture.ts';

test('totals with many counterparties equal plain sums, however often they are cleared', () => {
  const random = randomSource(5);
  const table = new CounterpartyTable();
  const ids = [0, 1, 2 ** 31 - 1, ...Array.from({ length: 9_000 }, (_, i) => i * 128 + 3)];
  for (const entries of [30_000, 300, 0, 8_000]) {
    table.clear();
    const plain = new Map<
      number,
      { counterparty: number; counts: [number, number]; wei: bigint; lastTransfer: number }
    >();
    for (let transfer = 1; transfer <= entries; transfer++) {
      const counterparty = ids[Math.floor(random() ** 3 * ids.length)]!;
      const wei = BigInt(transfer) ** 5n;
      const out = transfer % 3 === 0;
      table.add(nativeEntry(transfer, counterparty, wei, out ? HistoryFlag.out : HistoryFlag.in));
      const row = plain.get(counterparty) ?? { counterparty, counts: [0, 0], wei: 0n, lastTransfer: 0 };
      row.counts[out ? 1 : 0]++;
      plain.set(counterparty, { ...row, wei: row.wei + wei, lastTransfer: transfer });
    }
    const countOf = ({ counts: [a, b] }: { counts: [number, number] }) => a + b;
    const sorted = [...plain.values()].sort(
      (a, b) => countOf(b) - countOf(a) || b.lastTransfer - a.lastTransfer,
    );
    for (const limit of [1, 2, 50, 10_000]) {
      assert.deepEqual(
        table.top(limit).map(({ counterparty, inCount, outCount, inWei, outWei, lastTransfer }) => ({
          counterparty,
          counts: [inCount, outCount],
          wei: inWei + outWei,
          lastTransfer,
        })),
        sorted.slice(0, limit),
      );
    }
  }
});

test('a sum of more amounts than 53 bits hold stays exact', () => {
  const table = new CounterpartyTable();
  const entries = [2n ** 96n - 1n, 2n ** 32n - 1n, 2n ** 100n].map((wei) =>
    nativeEntry(1, 5, wei, HistoryFlag.out),
  );
  const times = 2 ** 20 + 2;
  for (let i = 0; i < times; i++) for (const entry of entries) table.add(entry);
  assert.equal(table.top(1)[0]!.outWei, BigInt(times) * (2n ** 96n - 1n + 2n ** 32n - 1n + 2n ** 100n));
});

/** A hub that deals with others in every way; `blocks` is what the index contains of them. */
function hubOf(t: TestContext, pagesPerFold?: number) {
  const index = createIndex(t, 0, pagesPerFold);
  // Spreads the ids of the others.
  const before = Array.from(
    { length: 5_200 },
    (_, i): NamedTransfer => ({
      from: `bystander ${i}`,
      to: i % 13 === 0 ? `other ${i / 13}` : 'bystander 0',
    }),
  );
  index.append([{ before }]);
  const db = index.reader(t);
  const ask = prepareCounterparties(db);
  // Counting from the histories of all recipients, of some, and of none.
  const askFunded = [1_000, 5, -1].map((pages) => prepareFundedWallets(db, pages));
  const random = randomSource(9);
  const pick = (count: number) => Math.floor(random() * count);
  const blocks: NamedBlock[] = [];
  const append = (count: number, transfers: number, branch: string) => {
    const made = Array.from({ length: count }, (_, b): NamedBlock => {
      const list = Array.from({ length: transfers }, (): NamedTransfer => {
        const other = `other ${Math.floor(random() ** 2 * 400)}`;
        const name = pick(20) === 0 ? 'zero' : pick(20) === 0 ? 'hub' : other;
        const [from, to] = pick(2) === 0 ? ['hub', name] : [name, 'hub'];
        const kind = TRANSFER_KIND_NAMES[pick(TRANSFER_KIND_NAMES.length)]!;
        const native = kind.startsWith('native'); // never of amount zero
        const amount =
          kind === 'erc721' ? 1n : BigInt(native ? 1 + pick(9) : pick(3)) * 10n ** BigInt(pick(30));
        return { kind, from, to, amount };
      });
      return { [`transaction ${branch} ${blocks.length + b}`]: list };
    });
    index.append(made, branch);
    blocks.push(...made);
  };
  const rollback = (to: number) => {
    index.writer.rollback(to);
    blocks.splice(to);
  };
  const check = (limit: number) => {
    const hub = prepareWalletIdByAddress(db)(address('hub'))!;
    const all = plainCounterparties(blocks, before.length, prepareWalletIdByAddress(db));
    const first = ask(hub, limit, deadlineBudget(Infinity));
    assert.deepEqual(first, all.slice(0, limit));
    const { inCount, outCount, lastTransfer } = first.at(-1)!;
    const place = { count: inCount + outCount, last: lastTransfer };
    const second = ask(hub, limit, deadlineBudget(Infinity), place);
    assert.deepEqual(second, all.slice(limit, 2 * limit));
    checkFunded(hub, limit);
  };
  /** Pages through windows that start anywhere. */
  const checkFunded = (hub: number, limit: number) => {
    const end = 1 + before.length + blocks.flatMap((block) => Object.values(block).flat()).length;
    for (const from of [1, before.length, ...Array.from({ length: 3 }, () => pick(end))]) {
      const range = { from, below: end };
      const expected = plainRecipients(blocks, before.length, prepareWalletIdByAddress(db), from);
      const ask = askFunded[pick(askFunded.length)]!;
      for (let upTo = end, at = 0; at < Math.min(expected.length, 3 * limit); at += limit) {
        const page = ask(hub, range, limit, deadlineBudget(Infinity), upTo);
        assert.deepEqual(page, expected.slice(at, at + limit), `from ${from} up to ${upTo}`);
        upTo = page.at(-1)!.lastTransfer;
      }
    }
  };
  return { append, rollback, check };
}

function plainCounterparties(
  blocks: readonly NamedBlock[],
  transfersBefore: number,
  idOf: (address: string) => number | undefined,
) {
  const rows = new Map<string, ReturnType<typeof emptyRow>>();
  let last = transfersBefore;
  for (const { kind = '', from, to, amount = 0n } of blocks.flatMap((block) => Object.values(block).flat())) {
    last++;
    const other = from === 'hub' ? to : from;
    const native = kind.startsWith('native');
    if (other === 'hub' || other === 'zero' || (!native && amount === 0n)) continue;
    const row = rows.get(other) ?? emptyRow(idOf(address(other))!);
    const side = from === 'hub' ? 'out' : 'in';
    row[`${side}Count`]++;
    if (native) row[`${side}Wei`] += amount;
    if (native && side === 'out') {
      row.sentCount++;
      row.firstSent ||= last;
      row.lastSent = last;
    }
    rows.set(other, { ...row, lastTransfer: last });
  }
  const countOf = ({ inCount, outCount }: { inCount: number; outCount: number }) => inCount + outCount;
  return [...rows.values()].sort((a, b) => countOf(b) - countOf(a) || b.lastTransfer - a.lastTransfer);
}

function emptyRow(counterparty: number) {
  return {
    counterparty,
    ...{ inCount: 0, outCount: 0, inWei: 0n, outWei: 0n, lastTransfer: 0 },
    ...{ sentCount: 0, firstSent: 0, lastSent: 0 },
  };
}

/** Recipients of the hub's native coins from a transfer on, latest first. */
function plainRecipients(
  blocks: readonly NamedBlock[],
  transfersBefore: number,
  idOf: (address: string) => number | undefined,
  start: number,
) {
  const rows = new Map<string, RecipientTotals>();
  let last = transfersBefore;
  for (const { kind = '', from, to, amount = 0n } of blocks.flatMap((block) => Object.values(block).flat())) {
    last++;
    if (last < start || from !== 'hub' || to === 'hub' || !kind.startsWith('native')) continue;
    const row = rows.get(to) ?? {
      recipient: idOf(to === 'zero' ? ZERO_ADDRESS : address(to))!,
      ...{ count: 0, wei: 0n, firstTransfer: last, lastTransfer: last },
    };
    rows.set(to, { ...row, count: row.count + 1, wei: row.wei + amount, lastTransfer: last });
  }
  return [...rows.values()].sort((a, b) => b.lastTransfer - a.lastTransfer);
}

for (const pagesPerFold of [PAGES_PER_FOLD, 1, 60]) {
  test(`counterparties and recipients of a hot wallet equal the full sort, ${pagesPerFold} pages to a fold`, (t) => {
    const { append, rollback, check } = hubOf(t, pagesPerFold);
    append(80, 300, 'first'); // enough to be cached
    for (const limit of [7, 200]) check(limit);
    append(1, 3, 'first');
    check(200);
    append(3, 300, 'first');
    check(50);
    rollback(80);
    check(500);
    append(4, 200, 'second');
    check(500);
    rollback(72);
    append(14, 100, 'third'); // same height, other blocks
    check(500);
    rollback(20);
    check(500);
  });
}

test('an answer that is broken off leaves nothing half done behind', (t) => {
  const index = createIndex(t);
  const db = index.reader(t);
  const deal = (from: string): NamedTransfer => ({ from, to: 'hub' });
  const blocks = Array.from({ length: 80 }, (_, b) => ({
    [`transaction ${b}`]: Array.from({ length: 300 }, (_, i) => deal(`other ${i % 7}`)),
  }));
  index.append(blocks);
  const ask = prepareCounterparties(db);
  const hub = prepareWalletIdByAddress(db)(address('hub'))!;
  const whole = ask(hub, 10, deadlineBudget(Infinity));
  index.append(
    Array.from({ length: 3 }, (_, b) => ({ ...blocks[0], [`more ${b}`]: blocks[0]!['transaction 0']! })),
  );
  assert.throws(() => ask(hub, 10, deadlineBudget(0)), { code: 'timeout' });
  const after = ask(hub, 10, deadlineBudget(Infinity));
  assert.deepEqual(after, prepareCounterparties(db)(hub, 10, deadlineBudget(Infinity)));
  assert.ok(after[0]!.inCount > whole[0]!.inCount);
});

test('the cache is bounded: the wallet requested longest ago is evicted first', (t) => {
  const index = createIndex(t);
  index.append([{ transaction: [{ from: 'a', to: 'b' }] }]);
  const one = () => new CounterpartyTable();
  const cache = new CounterpartyCache(index.reader(t), one().bytes * 2);
  for (const wallet of [1, 2, 1, 3]) cache.set(wallet, 0, one());
  assert.deepEqual(
    [1, 2, 3].map((wallet) => cache.get(wallet, 0)?.from),
    [2, undefined, 2],
  );
  assert.equal(cache.get(1, 7), undefined, 'a table of transfers after another one');
  assert.equal(new CounterpartyCache(index.reader(t), one().bytes - 1).get(1, 0), undefined);
});

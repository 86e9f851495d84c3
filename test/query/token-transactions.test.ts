/** How far the transactions of a token are read. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import {
  type KnownTransactions,
  prepareTokenTransactions,
  type ToldTransaction,
} from '../../src/query/token-transactions.ts';
import { prepareTokenFacts } from '../../src/query/tokens.ts';
import { prepareTradeIds } from '../../src/query/trade-ids.ts';
import { unitBudget } from '../../src/query/work-budget.ts';
import type { TradingTransaction } from '../../src/store/read/transaction-parts.ts';
import { address, createIndex, type NamedBlock, type NamedTransfer } from '../support/index/index-fixture.ts';

const coin = (from: string, to: string): NamedTransfer => ({ from, to, amount: 3n });
const token = (from: string, to: string): NamedTransfer => ({
  kind: 'erc20',
  token: 'meme',
  from,
  to,
  amount: 2n,
});
const BUY = [coin('alice', 'pool'), token('pool', 'alice')];
const times = (count: number, what: string, transfers: NamedTransfer[]): NamedBlock =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`${what} ${i}`, transfers]));

function readerOf(t: TestContext, blocks: NamedBlock[]) {
  const index = createIndex(t);
  index.append(blocks);
  const { db, snapshot, walletIds } = index.snapshot(t);
  const facts = walletIds.withId(address('meme'), prepareTokenFacts(db));
  assert.ok(facts);
  const head = snapshot.head();
  assert.ok(head);
  const ids = prepareTradeIds(db, walletIds)(head);
  const told = ({ first, transfers }: TradingTransaction) => ({ first, rows: transfers.length });
  return (
    bounds: { transfers?: number; stretches?: number },
    others: ReadonlySet<number> | null = null,
    known: KnownTransactions<ToldTransaction> | null = null,
  ) => {
    const transactionsIn = prepareTokenTransactions(db, told, bounds);
    const filter = { from: 1, below: Number.MAX_SAFE_INTEGER, others };
    const reading = transactionsIn(facts.id, filter, ids, unitBudget(1e6), known);
    const firsts: number[] = [];
    for (let next = reading.next(); ; next = reading.next()) {
      if (next.done) return { firsts, readFrom: next.value };
      firsts.push(next.value.first);
    }
  };
}

test('transactions of one asset, of one direction and without the wanted asset are passed over', (t) => {
  const read = readerOf(t, [
    { alone: [token('alice', 'bob')] },
    { gift: [coin('alice', 'bob'), token('alice', 'bob')] },
    { back: [token('alice', 'bob'), token('bob', 'alice')] },
    { buy: BUY },
    { last: [token('alice', 'bob')] },
  ]);
  assert.deepEqual(read({}), { firsts: [6], readFrom: null });
  assert.deepEqual(read({}, new Set([2])), { firsts: [], readFrom: null });
});

test('a reading ends after so many transfers, or stretches of the chain, and says where', (t) => {
  const read = readerOf(t, [times(100, 'buys', BUY), times(1_000, 'coins', [coin('a', 'b')]), { buy: BUY }]);
  const whole = read({});
  assert.deepEqual([whole.firsts.length, whole.firsts[0], whole.readFrom], [101, 1_201, null]);
  assert.deepEqual(read({ transfers: 101 }).firsts, whole.firsts.slice(0, 50)); // 100 transfers of 50 transactions
  const { firsts, readFrom } = read({ stretches: 2 });
  // The one of the last purchase, and the one from 128 on.
  assert.deepEqual(firsts, whole.firsts.slice(0, 1 + (200 - 128) / 2 + 1));
  assert.equal(readFrom, firsts.at(-1));
  assert.equal(read({ stretches: 3 }).readFrom, null);
  const huge = readerOf(t, [times(1, 'huge', Array.from({ length: 20 }, () => BUY).flat())]);
  assert.deepEqual(huge({ transfers: 20 }), { firsts: [], readFrom: 1 });
});

test('known transactions are not read, and count towards the bounds as if they were', (t) => {
  const read = readerOf(t, [
    times(100, 'buys', BUY),
    times(400, 'coins', [coin('a', 'b')]),
    times(9, 'later', BUY),
  ]);
  const whole = read({});
  // One in the middle is unknown to this memory, so it is missing where its range is not read.
  const transactions = whole.firsts.filter((first) => first >= 41 && first < 601 && first !== 101).reverse();
  const known = { from: 41, below: 601, transactions: transactions.map((first) => ({ first, rows: 2 })) };
  const firsts = whole.firsts.filter((first) => first !== 101);
  assert.deepEqual(read({}, null, known), { firsts, readFrom: null });
  for (const bounds of [{ transfers: 30 }, { transfers: 60 }, { stretches: 2 }])
    assert.deepEqual(read(bounds, null, known), {
      ...read(bounds),
      firsts: read(bounds).firsts.filter((first) => first !== 101),
    });
});

test('huge transactions are ruled out by the tokens they move, in time that grows with their transfers', (t) => {
  const drop = Array.from({ length: 3_000 }, (_, i) => token('dropper', `wallet ${i}`));
  const read = readerOf(t, [{ drop }, { both: [...drop, coin('alice', 'dropper')] }, { buy: BUY }]);
  assert.deepEqual(read({}, new Set([0])).firsts, [6_002, 3_001]);
});

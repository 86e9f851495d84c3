/** How far the sums of a token's trades are read. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { NATIVE } from '../../src/model/wallet-part.ts';
import { prepareTokenTradeSums } from '../../src/query/token-trade-sums.ts';
import { prepareTokenFacts } from '../../src/query/tokens.ts';
import { prepareTradeIds } from '../../src/query/trade-ids.ts';
import { unitBudget } from '../../src/query/work-budget.ts';
import { address, createIndex, type NamedBlock, type NamedTransfer } from '../support/index/index-fixture.ts';
import { buy, token } from '../support/trades/named-transfers.ts';

const times = (count: number, what: string, transfers: NamedTransfer[]): NamedBlock =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`${what} ${i}`, transfers]));

function readingOf(t: TestContext, blocks: NamedBlock[]) {
  const index = createIndex(t);
  index.append(blocks);
  const { db, snapshot, walletIds } = index.snapshot(t);
  const head = snapshot.head();
  assert.ok(head);
  const facts = walletIds.withId(address('meme'), prepareTokenFacts(db));
  assert.ok(facts);
  const ids = prepareTradeIds(db, walletIds)(head);
  return (most: number, ...names: string[]) => {
    const wallets = names.map((name) => walletIds.idOf(address(name)) ?? -1);
    const sumsOf = prepareTokenTradeSums(db, most);
    const traded = { token: facts.id, transfers: facts.transfers, quote: NATIVE };
    const { of, readFrom } = sumsOf(traded, wallets, ids, head, unitBudget(1e6));
    return { buys: wallets.map((wallet) => of.get(wallet)?.sums.buys), isCut: readFrom !== null, readFrom };
  };
}

test('the history of the token is read where it is shorter than those of the wallets', (t) => {
  const read = readingOf(t, [
    times(30, 'early', buy('alice', 2n, 3n)),
    times(200, 'other', [{ from: 'alice', to: 'bob', amount: 1n }]),
    times(10, 'late', buy('alice', 2n, 3n)),
  ]);
  assert.deepEqual(read(1_000, 'alice'), { buys: [40], isCut: false, readFrom: null });
  // 20 transfers of the newest 10 transactions, and no more.
  const { buys, isCut } = read(20, 'alice');
  assert.deepEqual([buys, isCut], [[10], true]);
  assert.deepEqual(read(80, 'alice').isCut, false);
});

test('of several wallets the one with the longest history is cut, and the others are whole', (t) => {
  const read = readingOf(t, [
    times(4, 'alice', buy('alice', 2n, 3n)),
    times(3, 'bob', buy('bob', 2n, 3n)),
    times(200, 'carol', buy('carol', 2n, 3n)),
    times(300, 'transfers', [token('dave', 'erin', 1n)]),
  ]);
  assert.deepEqual(read(1_000, 'alice', 'bob', 'carol').buys, [4, 3, 200]);
  const { buys, isCut } = read(100, 'alice', 'bob', 'carol');
  assert.deepEqual([buys.slice(0, 2), isCut], [[4, 3], true]);
  assert.ok((buys[2] ?? 0) > 30 && (buys[2] ?? 0) < 60, `${buys[2]} buys of carol`);
});

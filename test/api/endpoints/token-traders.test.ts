/** token_traders over small chains made by hand. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { newTradeRules } from '../../../src/model/trade-rules.ts';
import { askApi } from '../../support/clients/ask-api.ts';
import {
  address,
  createIndex,
  type IndexFixture,
  type NamedBlock,
} from '../../support/index/index-fixture.ts';
import { buy, coin, sell } from '../../support/trades/named-transfers.ts';

const MEME = address('meme');

function indexOf(t: TestContext, blocks: readonly NamedBlock[]): IndexFixture {
  const index = createIndex(t);
  index.writer.setTradeRules(newTradeRules({ chainId: 143, wrappedNative: [], configured: {} }));
  index.append(blocks);
  return index;
}

type Row = Record<string, unknown>;

async function traders(ask: ReturnType<typeof askApi>, input: Row = {}): Promise<[Row[], Row]> {
  const { traders: rows, ...rest } = await ask('token_traders', { token: MEME, ...input });
  assert.ok(Array.isArray(rows));
  return [rows, rest];
}

const profits = (rows: readonly Row[]) => rows.map((row) => [row.address, row.averageCostProfit] as const);

test('a later buy changes the profit at average prices, and a window knows no cost of earlier buys', async (t) => {
  const index = indexOf(t, [{ a: buy('alice', 10n, 100n) }, { b: sell('alice', 4n, 60n) }]);
  const ask = askApi(t, index.path);
  const alice = async (input: Row = {}) => {
    const [rows] = await traders(ask, input);
    return rows.find((row) => row.address === address('alice'));
  };
  const first = await alice();
  const { address: who, buys, sells, averageCostProfit, balance, firstBuyerRank } = first ?? {};
  assert.deepEqual(
    [who, buys, sells, averageCostProfit, balance, firstBuyerRank],
    [address('alice'), 1, 1, '20', '6', 1],
  );
  index.append([{ c: buy('alice', 10n, 300n) }]);
  assert.equal((await alice())?.averageCostProfit, '-20');
  const inWindow = await alice({ blocks: '2' });
  assert.deepEqual([inWindow?.bought, inWindow?.sold, inWindow?.averageCostProfit], ['10', '4', '-60']);
  const newest = await alice({ blocks: '1' });
  assert.deepEqual([newest?.sold, newest?.averageCostProfit], ['0', '0']);
});

test('known contracts are left out and counted; pages by profit, loss and newest trade continue', async (t) => {
  const index = indexOf(t, [
    { a: buy('alice', 10n, 100n), b: buy('bob', 10n, 100n), c: buy('carol', 5n, 10n) },
    { d: sell('alice', 10n, 150n), e: sell('bob', 10n, 70n) },
  ]);
  const ask = askApi(t, index.path);
  const [pool] = profits((await traders(ask))[0]);
  assert.deepEqual(pool, [address('alice'), '50']);
  const id = index.reader(t).prepare<[Buffer], number>('SELECT id FROM wallets WHERE address = ?').pluck();
  const wallet = id.get(Buffer.from(address('pool').slice(2), 'hex')) ?? 0;
  index.writer.saveCode(new Map([[wallet, true]]), 2);
  const [rows, { left_out, nextCursor }] = await traders(ask);
  assert.deepEqual(profits(rows), [
    [address('alice'), '50'],
    [address('carol'), '0'],
    [address('bob'), '-30'],
  ]);
  assert.deepEqual([left_out, nextCursor], [1, null]);
  assert.equal((await traders(ask, { include_contracts: 'true' }))[0].length, 4);
  for (const [order, expected] of [
    ['profit', ['alice', 'carol', 'bob']],
    ['loss', ['bob', 'carol', 'alice']],
    ['recent', ['bob', 'alice', 'carol']],
  ] as const) {
    const listed: unknown[] = [];
    for (let cursor: unknown; ; ) {
      const input = { order, limit: '1', ...(cursor !== undefined && { cursor }) };
      const [page, rest] = await traders(ask, input);
      listed.push(...page.map((row) => row.address));
      assert.equal(rest.order, order);
      cursor = rest.nextCursor;
      if (cursor === null) break;
    }
    assert.deepEqual(listed, expected.map(address), order);
  }
});

test('what has no traders is said: unknown tokens, the coin for itself, ERC-1155, no traces, no lists', async (t) => {
  const item = { kind: 'erc1155', token: 'item', tokenId: 1n } as const;
  const index = indexOf(t, [
    { a: [coin('alice', 'pool', 5n), { ...item, from: 'pool', to: 'alice', amount: 2n }] },
    { b: buy('alice', 10n, 100n) },
  ]);
  const ask = askApi(t, index.path);
  for (const input of [{ token: address('none') }, { token: 'native' }, { quote: address('none') }]) {
    const [rows, { profitReason, completeToBlock }] = await traders(ask, input);
    assert.deepEqual([rows, profitReason, completeToBlock], [[], null, 2]);
  }
  const [none, { profitReason }] = await traders(ask, { token: address('item') });
  assert.deepEqual(none, []);
  assert.match(String(profitReason), /ERC-1155/);
  index.appendUntraced([{ c: buy('bob', 1n, 1n) }]);
  const [untraced, { profitReason: why }] = await traders(ask);
  assert.deepEqual(
    untraced.map((row) => row.averageCostProfit),
    [null, null],
  );
  assert.match(String(why), /internal transfers are not indexed/);
  const older = createIndex(t);
  older.append([{ a: buy('alice', 10n, 100n) }]);
  const [nothing, { completeToBlock }] = await traders(askApi(t, older.path));
  assert.deepEqual([nothing, completeToBlock], [[], null]);
});

test('a window over all transfers of the token answers from the sums, as no window does', async (t) => {
  const index = indexOf(t, [
    { a: [coin('alice', 'bob', 1n)] },
    { b: buy('alice', 10n, 100n), c: buy('bob', 10n, 90n) },
    { d: sell('alice', 4n, 60n), e: sell('bob', 10n, 70n) },
  ]);
  const ask = askApi(t, index.path);
  for (const order of ['profit', 'loss', 'recent']) {
    const [all, rest] = await traders(ask, { order });
    for (const blocks of ['2', '3', '1000000'])
      assert.deepEqual(await traders(ask, { order, blocks }), [all, rest], `${order} of ${blocks}`);
  }
  assert.deepEqual(profits((await traders(ask, { blocks: '1' }))[0]), [
    [address('alice'), '0'],
    [address('bob'), '0'],
    [address('pool'), '0'],
  ]);
});

/** wallet_trades and wallet_profit over small chains made by hand. */
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import type { Hex } from '../../../src/lib/hex.ts';
import { NOT_TRACED } from '../../../src/model/block-gap.ts';
import { serve } from '../../server/serving.ts';
import { askApi } from '../../support/clients/ask-api.ts';
import { nodeReadsOf } from '../../support/clients/node-reads.ts';
import {
  address,
  createIndex,
  type IndexFixture,
  type NamedBlock,
  timestampOf,
  txHash,
} from '../../support/index/index-fixture.ts';
import { buy, coin, internal, nft, sell, token } from '../../support/trades/named-transfers.ts';

const MON = 10n ** 18n;
const WMON: Hex = '0x3bd359c1119da7da1d913d1c4d2b7c461115433a';
const ALICE = address('alice');
const MEME = address('meme');

type Row = Record<string, unknown>;

/** The meme has 6 decimals. */
function indexOf(t: TestContext, blocks: readonly NamedBlock[]): IndexFixture {
  const index = createIndex(t);
  index.append(blocks);
  index.damage(`INSERT INTO token_metadata (address, symbol, decimals, name, tries, checksum)
    VALUES (x'${MEME.slice(2)}', 'MEME', 6, 'Meme', 1, 0)`);
  return index;
}

function asking(
  t: TestContext,
  index: IndexFixture,
  lists: { quoteTokens?: string[]; feeSinks?: string[] } = {},
) {
  const ask = askApi(t, index.path, lists);
  return {
    trades: (input: Row = {}) => ask('wallet_trades', { address: ALICE, ...input }),
    profit: (input: Row = {}) => ask('wallet_profit', { address: ALICE, ...input }),
  };
}

const rowsOf = (value: unknown): Row[] => (Array.isArray(value) ? value : []);
const hashesOf = ({ trades }: Row) => rowsOf(trades).map(({ txHash }) => txHash);

describe('wallet_trades', () => {
  it('gives each trade with its legs, price and quote', async (t) => {
    const { trades } = asking(t, indexOf(t, [{}, { buy: buy('alice', 2_500_000n, 15n * (MON / 10n)) }]));
    const native = { tokenAddress: null, symbol: 'MON', decimals: 18 };
    const meme = { tokenAddress: MEME, symbol: 'MEME', decimals: 6 };
    const [trade] = rowsOf((await trades()).trades);
    const { blockHash, ...rest } = trade ?? {};
    assert.match(String(blockHash), /^0x[0-9a-f]{64}$/);
    assert.deepEqual(rest, {
      txHash: txHash('buy'),
      blockNumber: 2,
      timestamp: new Date(timestampOf(2) * 1000).toISOString(),
      kind: 'buy',
      given: [{ ...native, amount: '1500000000000000000', tokenIds: null, count: null }],
      received: [{ ...meme, amount: '2500000', tokenIds: null, count: null }],
      fees: [],
      tokenAddress: MEME,
      quote: native,
      price: '0.6',
      uncertain: false,
      initiated: null,
    });
  });

  it('lists the ids of NFTs that moved on balance, at most 20', async (t) => {
    const bought = Array.from({ length: 25 }, (_, i) => nft('pool', 'alice', BigInt(i)));
    const { trades } = asking(
      t,
      indexOf(t, [
        { many: [coin('alice', 'pool', 50n), ...bought] },
        {
          swapped: [
            nft('alice', 'pool', 3n),
            nft('pool', 'alice', 90n),
            nft('pool', 'alice', 91n),
            coin('alice', 'pool', 2n),
          ],
        },
      ]),
    );
    const [swapped, many] = rowsOf((await trades()).trades);
    const [leg] = rowsOf(many?.received);
    assert.deepEqual([leg?.amount, leg?.count, leg?.decimals], ['25', 25, 0]);
    assert.deepEqual(
      leg?.tokenIds,
      bought.slice(0, 20).map(({ tokenId }) => `${tokenId}`),
    );
    assert.equal(many?.price, '0.000000000000000002');
    const [net] = rowsOf(swapped?.received);
    assert.deepEqual([net?.amount, net?.tokenIds, net?.count], ['1', ['90', '91'], 2]);
  });

  it('sets fees apart', async (t) => {
    const { trades } = asking(
      t,
      indexOf(t, [
        { op: [internal('alice', 'entry', 7n), ...buy('alice', 5n, 100n), internal('entry', 'alice', 2n)] },
      ]),
      { feeSinks: [address('entry')] },
    );
    const [trade] = rowsOf((await trades()).trades);
    assert.deepEqual(
      rowsOf(trade?.fees).map(({ amount }) => amount),
      ['5'],
    );
    assert.deepEqual(
      rowsOf(trade?.given).map(({ amount }) => amount),
      ['100'],
    );
  });

  it('filters by token, kind, quote and time, newest first, page by page', async (t) => {
    const usd = address('usd');
    const { trades } = asking(
      t,
      indexOf(t, [
        { a: buy('alice', 5n, 100n), plain: [coin('alice', 'bob', 1n)] },
        { b: sell('alice', 2n, 90n) },
        { c: [token('alice', 'pool', 3n, 'usd'), token('pool', 'alice', 1n)] },
        { d: [token('alice', 'pool', 1n), token('pool', 'alice', 9n, 'dog')] },
        { e: [token('alice', 'pool', 4n, 'usd'), internal('pool', 'alice', 8n)] },
      ]),
      { quoteTokens: [usd] },
    );
    const found = async (input: Row) => hashesOf(await trades(input));
    const [a, b, c, d, e] = ['a', 'b', 'c', 'd', 'e'].map(txHash);
    assert.deepEqual(await found({}), [e, d, c, b, a]);
    assert.deepEqual(await found({ token: MEME }), [d, c, b, a]);
    assert.deepEqual(await found({ token: 'native' }), [e, b, a]);
    assert.deepEqual(await found({ kind: 'swap,sell' }), [d, b]);
    assert.deepEqual(await found({ quote: usd }), [e, c]);
    assert.deepEqual(await found({ quote: 'native' }), [b, a]);
    assert.deepEqual(await found({ since: `${timestampOf(2)}`, until: `${timestampOf(3)}` }), [c, b]);
    assert.deepEqual(await found({ token: address('never seen') }), []);
    for (let cursor: unknown, seen: unknown[] = []; ; ) {
      const page: Row = await trades({ limit: '2', ...(cursor === undefined ? {} : { cursor }) });
      seen = [...seen, ...hashesOf(page)];
      cursor = page.nextCursor;
      if (cursor !== null) continue;
      assert.deepEqual(seen, [e, d, c, b, a]);
      break;
    }
  });

  it('tells by the node who sent the transaction, in JSON and CSV', async (t) => {
    const index = indexOf(t, [
      { a: buy('alice', 5n, 100n) },
      { b: sell('alice', 2n, 90n) },
      { c: sell('alice', 1n, 90n) },
    ]);
    const asked: string[] = [];
    const nodeReads = {
      ...nodeReadsOf(index.snapshot(t).db),
      async sendersOf(transactions: readonly { txHash: string }[]) {
        asked.push(...transactions.map(({ txHash }) => txHash));
        return [null, address('relayer'), ALICE];
      },
    };
    const serving = await serve(t, { index, nodeReads });
    const path = `/api/wallet_trades?address=${ALICE}`;
    const initiated = async (query: string) =>
      rowsOf((await serving.json(`${path}${query}`)).trades).map((trade) => trade.initiated);
    assert.deepEqual(await initiated(''), [null, null, null]);
    assert.deepEqual(await initiated('&initiated=false'), [null, null, null]);
    assert.deepEqual(asked, []);
    assert.deepEqual(await initiated('&initiated=true'), [null, false, true]);
    assert.deepEqual(asked, ['c', 'b', 'a'].map(txHash));
    const csv = await (await serving.fetch(`${path}&initiated=true&format=csv`)).text();
    assert.deepEqual(
      csv
        .trim()
        .split('\r\n')
        .map((line) => line.split(',').at(-1)),
      ['initiated', '', 'false', 'true'],
    );
  });

  it('marks trades in blocks of which transfers are missing, and no sum has them', async (t) => {
    const index = createIndex(t);
    index.append([{ a: buy('alice', 5n, 100n) }]);
    index.append([{ b: sell('alice', 2n, 90n) }]);
    index.damage(`INSERT INTO block_gaps (kind, first, last, reason, checksum) VALUES (0, 2, 2, 'busy', 0)`);
    const { trades, profit } = asking(t, index);
    assert.deepEqual(
      rowsOf((await trades()).trades).map(({ uncertain }) => uncertain),
      [true, false],
    );
    const { tokens, totals, profitReason } = await profit();
    assert.deepEqual(
      rowsOf(tokens).map(({ buys, sells }) => [buys, sells]),
      [[1, 0]],
    );
    assert.equal(Reflect.get(Object(totals), 'uncertainTrades'), 1);
    assert.equal(profitReason, null);
  });
});

describe('wallet_profit', () => {
  it('gives rows, totals and the curve of a token', async (t) => {
    const { profit } = asking(
      t,
      indexOf(t, [
        { gift: [token('zero', 'alice', 4_000_000n)] },
        { one: buy('alice', 10_000_000n, 100n * MON) },
        { two: sell('alice', 5_000_000n, 80n * MON), three: sell('alice', 1_000_000n, 20n * MON) },
        { four: sell('alice', 8_000_000n, 160n * MON) },
      ]),
    );
    const { tokens, totals, curve, quote } = await profit({ token: MEME });
    const [row] = rowsOf(tokens);
    const wei = (whole: bigint) => `${whole * MON}`;
    assert.deepEqual(
      { ...row, accuracy: null },
      {
        tokenAddress: MEME,
        symbol: 'MEME',
        decimals: 6,
        perCollection: false,
        buys: 1,
        sells: 3,
        bought: '10000000',
        spent: wei(100n),
        sold: '14000000',
        received: wei(260n),
        averageBuyPrice: '10',
        averageSellPrice: '18.5714285714285714',
        realizedProfit: wei(30n + 10n + 40n), // 80 - 50, 20 - 10, 160 x 4/8 - 40
        soldWithoutCost: '4000000',
        receivedWithoutCost: wei(80n),
        position: '0',
        cost: '0',
        balance: '0',
        netTransferred: '4000000',
        accuracy: null,
        accuracyReason: null,
        otherQuotes: [],
        firstTradeBlock: 2,
        lastTradeBlock: 4,
      },
    );
    assert.deepEqual(totals, {
      realizedProfit: wei(80n),
      spent: wei(100n),
      received: wei(260n),
      tokens: 1,
      wins: 1,
      losses: 0,
      winRate: 1,
      unmatchedShare: 0.307692307692,
      uncertainTrades: 0,
    });
    assert.deepEqual(quote, { tokenAddress: null, symbol: 'MON', decimals: 18 });
    assert.deepEqual(
      rowsOf(curve).map(({ blockNumber, realizedProfit }) => [blockNumber, realizedProfit]),
      [
        [3, wei(40n)],
        [4, wei(80n)],
      ],
    );
    assert.equal((await profit()).curve, null);
  });

  it('counts the wrapped coin as the native one, also where it is named', async (t) => {
    const index = createIndex(t);
    const rules = { version: 2, monad: true, wrappedNative: [WMON], nativeContracts: [], unindexedErc20: [] };
    index.writer.setRules(rules);
    index.append([{ a: buy('alice', 5n, 100n) }]);
    const { profit, trades } = asking(t, index);
    assert.equal(rowsOf((await profit({ quote: 'native' })).tokens).length, 1);
    const unknown = await profit({ quote: address('not a quote') });
    assert.deepEqual([unknown.tokens, unknown.count], [[], 0]);
    assert.equal(rowsOf((await trades({ quote: 'native' })).trades).length, 1);
  });

  it('lists most profit first, page by page, with totals over all', async (t) => {
    const trade = (name: string, cost: bigint, brought: bigint): NamedBlock => ({
      [`${name} in`]: [coin('alice', 'pool', cost), token('pool', 'alice', 10n, name)],
      [`${name} out`]: [token('alice', 'pool', 10n, name), internal('pool', 'alice', brought)],
    });
    const { profit } = asking(
      t,
      indexOf(t, [
        trade('lost', 50n, 20n),
        trade('won', 50n, 90n),
        trade('even', 10n, 10n),
        trade('even too', 10n, 10n),
      ]),
    );
    const seen: unknown[] = [];
    for (let cursor: unknown = null; ; ) {
      const { tokens, nextCursor, totals } = await profit({ limit: '1', ...(cursor !== null && { cursor }) });
      seen.push(...rowsOf(tokens).map(({ tokenAddress }) => tokenAddress));
      const { realizedProfit, tokens: count, wins, losses, winRate } = Object(totals);
      assert.deepEqual([realizedProfit, count, wins, losses, winRate], ['10', 4, 1, 1, 0.5]);
      cursor = nextCursor;
      if (cursor === null) break;
    }
    assert.deepEqual(seen, ['won', 'even', 'even too', 'lost'].map(address));
  });

  it('has no profit where internal transfers are not indexed', async (t) => {
    const index = createIndex(t);
    index.append([{ a: buy('alice', 5n, 100n) }]);
    index.damage(
      `INSERT INTO block_gaps (kind, first, last, reason, checksum) VALUES (0, 1, 1, '${NOT_TRACED}', 0)`,
    );
    const { tokens, totals, profitReason, curve } = await asking(t, index).profit({ token: MEME });
    assert.deepEqual([tokens, curve], [[], []]);
    assert.match(String(profitReason), /^internal transfers are not indexed/);
    const { realizedProfit, wins, losses, winRate, unmatchedShare, uncertainTrades } = Object(totals);
    assert.deepEqual([realizedProfit, wins, losses, winRate, unmatchedShare], [null, null, null, null, null]);
    assert.equal(uncertainTrades, 1);
  });

  it('knows nothing of a wallet without transfers', async (t) => {
    const ask = askApi(t, indexOf(t, [{ a: buy('alice', 5n, 100n) }]).path);
    const input = { address: address('nobody') };
    const { trades, nextCursor } = await ask('wallet_trades', input);
    assert.deepEqual([trades, nextCursor], [[], null]);
    const { tokens, totals, truncated, fromBlock } = await ask('wallet_profit', input);
    assert.deepEqual([tokens, truncated, fromBlock], [[], false, null]);
    assert.equal(Reflect.get(Object(totals), 'realizedProfit'), '0');
  });

  it('refuses what is neither a token nor native', async (t) => {
    const { trades, profit } = asking(t, indexOf(t, [{ a: buy('alice', 5n, 100n) }]));
    await assert.rejects(profit({ quote: 'MON' }), /quote must be native, or the address of a token/);
    await assert.rejects(trades({ token: '0x12' }), /token must be native, or the address of a token/);
    await assert.rejects(trades({ kind: 'gift' }), /kind must be a list of buy, sell, swap, mixed/);
  });
});

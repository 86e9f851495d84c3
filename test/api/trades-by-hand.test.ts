/**
 * Trades from the logs and call trees of a node to the answers of the API, worked out by hand. The rules for parts of a
 * transaction alone are in test/trades.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { toldChain } from '../support/chain/told-chain.ts';
import { type AskApi, askApi } from '../support/clients/ask-api.ts';
import { buildIndex } from '../support/index/build-index.ts';
import { address } from '../support/index/index-fixture.ts';
import { repairFile } from '../support/index/verify.ts';
import { startNode } from '../support/nodes/replay.ts';
import { tempDir } from '../support/temp-dir.ts';
import { coin, DAI, HAND_MADE, sent, token, USDC } from '../support/trades/hand-made.ts';
import { HAND_MADE_EDGES } from '../support/trades/hand-made-edges.ts';

type Row = Record<string, unknown>;
const rowsOf = (value: unknown): Row[] => (Array.isArray(value) ? value : []);

const NAMES = new Map([
  [USDC, 'USDC'],
  [DAI, 'DAI'],
  ...['meme', 'dog', 'art', 'items'].map((name): [string, string] => [address(name), name]),
]);

const nameOf = (value: unknown) => (value === null ? 'native' : (NAMES.get(String(value)) ?? String(value)));

function legsText(legs: unknown): string {
  return rowsOf(legs)
    .map(({ tokenAddress, amount, tokenIds }) =>
      [amount, nameOf(tokenAddress), ...rowsOf(tokenIds)].join(' '),
    )
    .sort()
    .join(' and ');
}

function tradeText({ kind, given, received, fees, tokenAddress, quote, uncertain }: Row): string {
  const isOfNone = kind === 'swap' || (kind === 'mixed' && tokenAddress === null);
  const about = isOfNone ? '' : `, of ${nameOf(tokenAddress)}`;
  const price = quote === null ? '' : ` in ${nameOf(Reflect.get(Object(quote), 'tokenAddress'))}`;
  const feesText = rowsOf(fees).length === 0 ? '' : `, fees ${legsText(fees)}`;
  return `${kind}: ${legsText(given)} for ${legsText(received)}${about}${price}${feesText}${uncertain ? ' ?' : ''}`;
}

const sumsText = ({ bought, spent, sold, received }: Row) =>
  `${bought} for ${spent}, ${sold} for ${received}`;

const profitText = (row: Row) =>
  `${nameOf(row.tokenAddress)}: ${sumsText(row)}; realized ${row.realizedProfit}; ` +
  `without cost ${row.soldWithoutCost} for ${row.receivedWithoutCost}; holds ${row.position} for ${row.cost}`;

async function tradesOf(ask: AskApi, name: string): Promise<string[]> {
  return rowsOf((await ask('wallet_trades', { address: address(name) })).trades).map(tradeText);
}

async function profitsOf(ask: AskApi, name: string, quote = 'native'): Promise<string[]> {
  return rowsOf((await ask('wallet_profit', { address: address(name), quote })).tokens).map(profitText);
}

async function traderOf(ask: AskApi, name: string, of = 'meme', quote = 'native') {
  const asked = { token: of === 'native' ? of : address(of), quote, limit: '200' };
  const row = rowsOf((await ask('token_traders', asked)).traders).find(
    (each) => each.address === address(name),
  );
  return row && `${sumsText(row)}; average ${row.averageCostProfit}`;
}

describe('a chain made by hand', () => {
  for (const { name, transactions, trades, profits, quote, trader, token: of } of [
    ...HAND_MADE,
    ...HAND_MADE_EDGES,
  ])
    it(`gives the trades of ${name}`, async (t) => {
      const node = await startNode(t, { chain: toldChain(transactions), chainId: 1 });
      const ask = askApi(t, await buildIndex({ url: node.url, dir: tempDir(t) }));
      assert.deepEqual(await tradesOf(ask, name), trades);
      if (profits !== undefined) assert.deepEqual(await profitsOf(ask, name, quote), profits);
      if (profits !== undefined) assert.equal(await traderOf(ask, name, of, quote), trader);
    });
});

it('trades in a block that was not traced are uncertain and in no sum, until a repair traces it', async (t) => {
  const chain = toldChain([
    sent('alice', 100n, [token('meme', 'pool', 'alice', 10n)]),
    // Without its call tree the second buy costs 60, and the sale brings nothing.
    sent('alice', 60n, [token('meme', 'pool', 'alice', 4n), coin('router', 'alice', 20n)]),
    sent('alice', 0n, [token('meme', 'alice', 'pool', 7n), coin('pool', 'alice', 90n)]),
    sent('alice', 0n, [token('meme', 'alice', 'pool', 1n), coin('pool', 'alice', 30n)]),
  ]);
  const [node, dir] = [await startNode(t, { chain, chainId: 1 }), tempDir(t)];
  const build = (head: number, traces: boolean) => buildIndex({ url: node.url, dir, head, traces });
  await build(1, true);
  await build(3, false);
  const path = await build(4, true);

  const answers = async () => {
    const ask = askApi(t, path);
    const { totals } = await ask('wallet_profit', { address: address('alice') });
    return {
      trades: await tradesOf(ask, 'alice'),
      profits: await profitsOf(ask, 'alice'),
      trader: await traderOf(ask, 'alice'),
      uncertain: Reflect.get(Object(totals), 'uncertainTrades'),
    };
  };
  const { uncertain, trades } = await answers();
  assert.deepEqual(
    { uncertain, trades },
    {
      uncertain: 1,
      trades: [
        'sell: 1 meme for 30 native, of meme in native',
        'buy: 60 native for 4 meme, of meme in native ?',
        'buy: 100 native for 10 meme, of meme in native',
      ],
    },
  );
  await repairFile(path, node.url, 2, 3);
  assert.deepEqual(await answers(), {
    trades: [
      'sell: 1 meme for 30 native, of meme in native',
      'sell: 7 meme for 90 native, of meme in native',
      'buy: 40 native for 4 meme, of meme in native',
      'buy: 100 native for 10 meme, of meme in native',
    ],
    // 90 - 70, then 30 - 10.
    profits: ['meme: 14 for 140, 8 for 120; realized 40; without cost 0 for 0; holds 6 for 60'],
    // 120 - 80.
    trader: '14 for 140, 8 for 120; average 40',
    uncertain: 0,
  });
});

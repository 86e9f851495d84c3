/** The trades and profits of every wallet of whole chains equal a plain count of their transfers. */
import assert from 'node:assert/strict';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { IndexWriter } from '../../src/store/index-writer.ts';
import { type PlainBlock, randomBlocks, toBatch } from '../support/chain/random-chain.ts';
import { tradingBlocks } from '../support/chain/trading-chain.ts';
import { askApi } from '../support/clients/ask-api.ts';
import { indexedTransfers } from '../support/index/index-rows.ts';
import { tempDir } from '../support/temp-dir.ts';
import { compareTrades } from '../support/trades/compare-trades.ts';
import { type PlainLists, PlainTrades } from '../support/trades/plain-trades.ts';

async function compareChain(t: TestContext, blocks: readonly PlainBlock[]) {
  const path = join(tempDir(t), 'index.db');
  const writer = new IndexWriter(path, { cacheMb: 8 });
  writer.setChain(1, 1);
  writer.append([toBatch(blocks)]);
  writer.close();
  const transfers = indexedTransfers(dirname(path));
  const tokens = [...new Set(transfers.flatMap(({ token }) => token ?? []))];
  const wallets = [...new Set(transfers.flatMap(({ from, to }) => [from, to]))];
  const lists: PlainLists = {
    equivalents: tokens.slice(0, 1),
    quotes: tokens.slice(1, 3),
    sinks: wallets.slice(4, 5),
  };
  const ask = askApi(t, path, {
    nativeEquivalents: lists.equivalents,
    quoteTokens: lists.quotes,
    feeSinks: lists.sinks,
  });
  return compareTrades(ask, new PlainTrades(transfers, lists), wallets, ['native', ...lists.quotes]);
}

for (const seed of [1, 2, 3])
  test(`a random chain of trades (seed ${seed})`, async (t) => {
    const counts = await compareChain(t, tradingBlocks(120, seed));
    for (const [name, count] of Object.entries(counts)) assert.ok(count > 3, `${count} of ${name}`);
  });

test('a random chain of everything', async (t) => {
  await compareChain(t, randomBlocks(1, 60, `0x${'00'.repeat(32)}`, 5));
});

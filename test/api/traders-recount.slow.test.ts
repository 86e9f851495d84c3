/** The traders of every token of whole chains equal a plain count of their transfers, in every order and window. */
import assert from 'node:assert/strict';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Hex } from '../../src/lib/hex.ts';
import { newTradeRules } from '../../src/model/trade-rules.ts';
import { IndexWriter } from '../../src/store/index-writer.ts';
import { type PlainBlock, randomBlocks, toBatch } from '../support/chain/random-chain.ts';
import { tradingBlocks } from '../support/chain/trading-chain.ts';
import { askApi } from '../support/clients/ask-api.ts';
import { indexedTransfers } from '../support/index/index-rows.ts';
import { tempDir } from '../support/temp-dir.ts';
import { compareTraders, plainTraders } from '../support/trades/compare-traders.ts';
import { type PlainLists, PlainTrades } from '../support/trades/plain-trades.ts';

/** Untraced blocks, so that some trades are in no sum. */
function isGap(block: number): boolean {
  return block % 40 === 7;
}

async function compareChain(t: TestContext, blocks: readonly PlainBlock[]): Promise<Record<string, number>> {
  const path = join(tempDir(t), 'index.db');
  const writer = new IndexWriter(path, { cacheMb: 8 });
  writer.setChain(1, 1);
  const moves = blocks.flatMap(({ transactions }) => transactions.flatMap((each) => each.transfers));
  const distinct = (digits: readonly string[]) =>
    [...new Set(digits)].filter((each) => each !== '').map((each): Hex => `0x${each}`);
  const tokens = distinct(moves.map(({ token }) => token));
  const lists: PlainLists & { equivalents: Hex[] } = {
    equivalents: tokens.slice(0, 1),
    quotes: tokens.slice(1, 3),
    sinks: distinct(moves.flatMap(({ from, to }) => [from, to])).slice(4, 5),
  };
  const configured = {
    nativeEquivalents: lists.equivalents,
    quoteTokens: lists.quotes,
    feeSinks: lists.sinks,
  };
  writer.setTradeRules(newTradeRules({ chainId: 1, wrappedNative: [], configured }));
  for (const block of blocks) writer.append([toBatch([block], !isGap(block.number))]);
  writer.close();
  const plain = new PlainTrades(indexedTransfers(dirname(path)), lists);
  const ask = askApi(t, path);
  const last = blocks.length;
  const counts = { all: 0, window: 0, native: 0 };
  for (const quote of ['native', ...lists.quotes])
    for (const token of ['native', ...tokens.slice(1)]) {
      const input = { token, quote };
      const whole = plainTraders(plain, token, quote, ({ block }) => !isGap(block));
      counts.all += await compareTraders(ask, input, whole);
      if (token === 'native') counts.native += whole.length;
      const window = plainTraders(plain, token, quote, ({ block }) => !isGap(block) && block > last - 60);
      counts.window += await compareTraders(ask, { ...input, blocks: '60' }, window);
    }
  return counts;
}

for (const seed of [1, 2])
  test(`the traders of a random chain of trades (seed ${seed})`, async (t) => {
    const counts = await compareChain(t, tradingBlocks(160, seed));
    for (const [name, count] of Object.entries(counts)) assert.ok(count > 1, `${count} of ${name}`);
  });

test('the traders of a random chain of everything', async (t) => {
  await compareChain(t, randomBlocks(1, 60, `0x${'00'.repeat(32)}`, 5));
});

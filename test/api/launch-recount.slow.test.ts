/** The launches of all tokens of whole chains equal a plain count of their transfers. */
import assert from 'node:assert/strict';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { generateChain } from '../../scripts/simulator/chain/generate.ts';
import { TRADE_CONTRACTS } from '../../scripts/simulator/chain/markets.ts';
import { BatchBuilder } from '../../src/decode/batch.ts';
import { decodeBlock } from '../../src/decode/block.ts';
import { decodeRules } from '../../src/decode/rules.ts';
import type { Hex } from '../../src/lib/hex.ts';
import { newRules } from '../../src/model/index-rules.ts';
import { newTradeRules } from '../../src/model/trade-rules.ts';
import { IndexWriter } from '../../src/store/index-writer.ts';
import { type PlainBlock, randomBlocks, toBatch } from '../support/chain/random-chain.ts';
import { tradingBlocks } from '../support/chain/trading-chain.ts';
import { askApi } from '../support/clients/ask-api.ts';
import { indexedTransfers } from '../support/index/index-rows.ts';
import { tempDir } from '../support/temp-dir.ts';
import { compareLaunches, type LaunchCounts, noLaunches } from '../support/trades/compare-launch.ts';
import { PlainLaunches } from '../support/trades/plain-launch.ts';
import { type PlainLists, PlainTrades } from '../support/trades/plain-trades.ts';

const THRESHOLDS = { snipers: 3, bundle: 2, fresh: 20 };

/** The lists that stand in for known contracts: the first tokens, and a wallet. */
function listsOf(blocks: readonly PlainBlock[]) {
  const moves = blocks.flatMap(({ transactions }) => transactions.flatMap((each) => each.transfers));
  const distinct = (digits: readonly string[]) =>
    [...new Set(digits)].filter((each) => each !== '').map((each): Hex => `0x${each}`);
  const tokens = distinct(moves.map(({ token }) => token));
  const wallets = distinct(moves.flatMap(({ from, to }) => [from, to]));
  return { equivalents: tokens.slice(0, 1), quotes: tokens.slice(1, 2), sinks: wallets.slice(4, 5) };
}

function newIndex(t: TestContext): { path: string; writer: IndexWriter } {
  const path = join(tempDir(t), 'index.db');
  const writer = new IndexWriter(path, { cacheMb: 8 });
  writer.setChain(1, 1);
  return { path, writer };
}

/** Compares every token of the index. */
async function compareIndex(
  t: TestContext,
  path: string,
  lists: PlainLists,
  counts: LaunchCounts,
): Promise<void> {
  const transfers = indexedTransfers(dirname(path));
  const tokens = [...new Set(transfers.flatMap(({ token }) => token ?? []))];
  const ask = askApi(t, path, {
    nativeEquivalents: lists.equivalents,
    quoteTokens: lists.quotes,
    feeSinks: lists.sinks,
  });
  const plain = new PlainLaunches(transfers, lists, new PlainTrades(transfers, lists));
  await compareLaunches(ask, plain, tokens, { limit: 200, thresholds: THRESHOLDS }, counts);
  await compareLaunches(
    ask,
    plain,
    tokens,
    { limit: 3, thresholds: { ...THRESHOLDS, snipers: 0 } },
    noLaunches(),
  );
}

test('on random chains of trades, also after reorgs', async (t) => {
  const counts = noLaunches();
  for (const seed of [1, 2, 3]) {
    const { path, writer } = newIndex(t);
    const blocks = tradingBlocks(80, seed);
    const lists = listsOf(blocks);
    // With its lists the index keeps sums of trades; without, they are read from histories.
    if (seed !== 2) {
      const { equivalents: nativeEquivalents, quotes: quoteTokens, sinks: feeSinks } = lists;
      const configured = { nativeEquivalents, quoteTokens, feeSinks };
      writer.setTradeRules(newTradeRules({ chainId: 1, wrappedNative: [], configured }));
    }
    writer.append([toBatch(blocks)]);
    await compareIndex(t, path, lists, counts);
    while (!writer.rollbackStep(40, { number: null }));
    writer.append([toBatch(tradingBlocks(30, seed + 100, 41, blocks[39]?.hash))]);
    writer.close();
    await compareIndex(t, path, lists, counts);
  }
  const { bundles: _, ...all } = counts;
  for (const [name, count] of Object.entries(all)) assert.ok(count > 1, `${count} of ${name}`);
});

test('on a random chain of everything', async (t) => {
  const { path, writer } = newIndex(t);
  const blocks = randomBlocks(1, 60, `0x${'00'.repeat(32)}`, 5);
  writer.append([toBatch(blocks)]);
  writer.close();
  await compareIndex(t, path, listsOf(blocks), noLaunches());
});

test('on a generated chain with sniped and bundled launches', async (t) => {
  const { wrapped, stable, entryPoint } = TRADE_CONTRACTS;
  const rules = decodeRules(newRules({ chainId: 1, monad: false, configured: { wrappedNative: [wrapped] } }));
  const { path, writer } = newIndex(t);
  const out = new BatchBuilder();
  for (const block of generateChain({ blocks: 60, txPerBlock: 40, trades: true }).blocks)
    decodeBlock(
      out,
      {
        block: JSON.parse(block.block),
        receipts: JSON.parse(block.receipts),
        traces: { form: 'tree', value: JSON.parse(block.trace ?? '[]') },
      },
      rules,
    );
  writer.append([out.finish(true)]);
  writer.close();
  const counts = noLaunches();
  await compareIndex(t, path, { equivalents: [wrapped], quotes: [stable], sinks: [entryPoint] }, counts);
  for (const [name, count] of Object.entries(counts)) assert.ok(count > 0, `${count} of ${name}`);
});

/** The trades and launches of real recorded blocks equal a plain count of their transfers. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { newTradeRules } from '../../src/model/trade-rules.ts';
import { askApi } from '../support/clients/ask-api.ts';
import { startTestDaemon } from '../support/daemon/daemon.ts';
import { indexedTransfers } from '../support/index/index-rows.ts';
import { recordedDataOrSkip } from '../support/nodes/recorded.ts';
import { startRecordedNode } from '../support/nodes/replay.ts';
import { compareLaunches, noLaunches } from '../support/trades/compare-launch.ts';
import { compareTrades } from '../support/trades/compare-trades.ts';
import { PlainLaunches } from '../support/trades/plain-launch.ts';
import { PlainTrades } from '../support/trades/plain-trades.ts';

const WETH = '0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2';
const [USDC, USDT] = [
  '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48',
  '0xdac17f958d2ee523a2206206994597c13d831ec7',
];

for (const { dataset, start, head, least } of [
  { dataset: 'eth-15000001-15000018', start: 15_000_001, head: 15_000_018, least: 900 },
  { dataset: 'eth-17686110-17686121', start: 17_686_110, head: 17_686_121, least: 500 },
])
  test(`the trades of Ethereum blocks ${start} to ${head}`, async (t) => {
    const folder = recordedDataOrSkip(t);
    if (folder === null) return;
    const node = await startRecordedNode(t, folder, dataset);
    const daemon = await startTestDaemon(t, {
      flags: { '--node-http': node.url, '--start-block': String(start) },
    });
    await daemon.reaches(head);
    const transfers = indexedTransfers(daemon.dataDir);
    const rules = newTradeRules({ chainId: 1, wrappedNative: [WETH], configured: {} });
    const lists = {
      equivalents: rules.nativeEquivalents,
      quotes: rules.quoteTokens,
      sinks: rules.feeSinks,
    };
    const plain = new PlainTrades(transfers, lists);
    const ask = askApi(t, join(daemon.dataDir, 'index.db'));
    const others = [...new Set(transfers.flatMap(({ from, to }) => [from, to]))].slice(0, 100);
    const wallets = [...new Set([...plain.byWallet.keys(), ...others])];
    const counts = await compareTrades(ask, plain, wallets, ['native', USDC, USDT]);
    t.diagnostic(`${transfers.length} transfers, ${JSON.stringify(counts)}`);
    assert.ok(counts.buy + counts.sell + counts.swap + counts.mixed > least);
    const launches = noLaunches();
    const tokens = [...new Set(transfers.flatMap(({ token }) => token ?? []))];
    const thresholds = { snipers: 3, bundle: 4, fresh: 1_000 };
    await compareLaunches(
      ask,
      new PlainLaunches(transfers, lists, plain),
      tokens,
      { limit: 20, thresholds },
      launches,
    );
    t.diagnostic(`${tokens.length} tokens, ${JSON.stringify(launches)}`);
    assert.ok(launches.bought > 300 && launches.minted > 5);
  });

/**
 * Verify recounts the sums of trades, the numbers of traders and the peaks, and says when it cannot; repair mends them.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { newTradeRules } from '../../src/model/trade-rules.ts';
import { IndexWriter } from '../../src/store/index-writer.ts';
import { openDatabase } from '../../src/store/open-database.ts';
import { toBatch } from '../support/chain/random-chain.ts';
import { tradingBlocks } from '../support/chain/trading-chain.ts';
import { buildIndex } from '../support/index/build-index.ts';
import { dumpIndex } from '../support/index/dump.ts';
import { forgetDerived } from '../support/index/older-index.ts';
import { differencesOf, repairFile, verifyAlone } from '../support/index/verify.ts';
import { startGeneratedNode } from '../support/nodes/replay.ts';
import { tempDir } from '../support/temp-dir.ts';

const RULES = newTradeRules({ chainId: 1, wrappedNative: [], configured: {} });

function tradedIndex(t: TestContext): string {
  const path = join(tempDir(t), 'index.db');
  const writer = new IndexWriter(path, { cacheMb: 8 });
  writer.setChain(1, 1);
  writer.setTradeRules(RULES);
  const blocks = tradingBlocks(300, 3);
  for (let at = 0; at < blocks.length; at += 60)
    writer.append([toBatch(blocks.slice(at, at + 60), at !== 120)]);
  writer.close();
  return path;
}

function damage(path: string, sql: string): void {
  const db = openDatabase(path);
  db.exec(sql);
  db.close();
}

for (const [what, sql, expected] of [
  [
    'an amount is another',
    "UPDATE trade_sums SET sums = CAST(substr(sums, 1, length(sums) - 1) || x'77' AS BLOB)",
    /^wallets: the trades of 0x\w+ with token \d+ add up to .* in the index, must be \d+ buys of/,
  ],
  [
    'a row is missing',
    'DELETE FROM trade_sums WHERE wallet = (SELECT min(wallet) FROM trade_sums)',
    /^wallets: the trades of 0x\w+ with token \d+ add up to none in the index, must be/,
  ],
  [
    'a row is of a wallet that never had the token',
    'INSERT INTO trade_sums SELECT 0, max(token), 0, sums FROM trade_sums LIMIT 1',
    /with token \d+|number of traders of token/,
  ],
  [
    'a row is of no token',
    'INSERT INTO trade_sums SELECT 0, 999, wallet, sums FROM trade_sums LIMIT 1',
    /^wallets: trade_sums has a row of token 999, but \d+ is the last one/,
  ],
  [
    'a row is of no wallet',
    'INSERT INTO trade_sums SELECT 0, 0, 9999, sums FROM trade_sums LIMIT 1',
    /^wallets: wallet 9999 has trades with token 0, of which it has no transfers/,
  ],
  [
    'a number of traders is another',
    'UPDATE traded_tokens SET traders = traders + 1',
    /^tokens: the number of traders of token \d+ is \d+ in the index, must be \d+/,
  ],
  [
    'a small token has peaks',
    "INSERT INTO trade_peaks SELECT 0, min(token), 0, 0, x'80', x'80' FROM trade_sums WHERE token > 0",
    /^tokens: the most and least profit in span 0 of token \d+ against 0 are wrong, must be none/,
  ],
  [
    'the lists are others',
    "UPDATE trade_rules SET rules = replace(rules, 'version', 'Version')",
    /trade_rules/,
  ],
  ['there are no lists', 'DELETE FROM trade_rules', /^wallets: trade_rules has no row/],
] as const)
  test(`verify finds when ${what}`, async (t) => {
    const path = tradedIndex(t);
    assert.deepEqual(differencesOf(await verifyAlone(path)), []);
    damage(path, sql);
    const differences = differencesOf(await verifyAlone(path));
    assert.ok(
      differences.some((text) => expected.test(text)),
      differences.join('\n'),
    );
  });

test('verify says that the sums of an older index are not compared, until they are complete', async (t) => {
  const path = tradedIndex(t);
  forgetDerived(path);
  const notes = async () => {
    const report = await verifyAlone(path);
    assert.deepEqual(differencesOf(report), []);
    return report.checks.find(({ name }) => name === 'wallets')?.notes;
  };
  assert.deepEqual(await notes(), [
    'the sums of trades were not compared: the daemon has not added up all of them yet',
  ]);
  const writer = new IndexWriter(path, { cacheMb: 8 });
  while (writer.deriveStep(1_000) !== null);
  writer.close();
  assert.deepEqual(await notes(), []);
});

for (const [what, sql] of [
  ['sums', 'UPDATE trade_sums SET sums = zeroblob(3) WHERE token = (SELECT max(token) FROM trade_sums)'],
  ['lists', "UPDATE trade_rules SET rules = 'version 1, a, b, c'"],
] as const)
  test(`a repair mends damaged ${what} of trades`, async (t) => {
    const { node } = await startGeneratedNode(t, { blocks: 30, txPerBlock: 30 });
    const path = await buildIndex({ url: node.url, dir: tempDir(t), startBlock: 1 });
    const writer = new IndexWriter(path, { cacheMb: 8 });
    writer.setTradeRules(
      newTradeRules({
        chainId: writer.chain()?.chainId ?? 0,
        wrappedNative: writer.rules()?.wrappedNative ?? [],
        configured: {},
      }),
    );
    while (writer.deriveStep(10_000) !== null);
    writer.close();
    const before = dumpIndex(path).filter((row) => row.startsWith('trade'));
    assert.ok(before.length > 10, `${before.length}`);
    damage(path, sql);
    const { rebuilt } = await repairFile(path, node.url, null, 0);
    assert.ok(rebuilt);
    assert.deepEqual(
      dumpIndex(path).filter((row) => row.startsWith('trade')),
      before,
    );
    assert.deepEqual(differencesOf(await verifyAlone(path)), []);
  });

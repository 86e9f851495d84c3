/** The sums of trades equal a plain count of the transfers, and the rows of a fresh index, whatever happened before. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Hex } from '../../src/lib/hex.ts';
import { newTradeRules, type TradeRules } from '../../src/model/trade-rules.ts';
import { IndexWriter } from '../../src/store/index-writer.ts';
import { type PlainBlock, randomSource, toBatch } from '../support/chain/random-chain.ts';
import { tradingBlocks } from '../support/chain/trading-chain.ts';
import { dumpIndex } from '../support/index/dump.ts';
import { forgetDerived } from '../support/index/older-index.ts';
import { tempDir } from '../support/temp-dir.ts';
import type { PlainLists } from '../support/trades/plain-trades.ts';
import { plainSums, storedSums } from '../support/trades/stored-sums.ts';

function openWriter(path: string): IndexWriter {
  const writer = new IndexWriter(path, { cacheMb: 8 });
  if (writer.chain() === null) writer.setChain(1, 1);
  return writer;
}

/** The tokens and wallets of blocks, in order of first appearance. */
function namesIn(blocks: readonly PlainBlock[]): { tokens: Hex[]; wallets: Hex[] } {
  const transfers = blocks.flatMap(({ transactions }) => transactions.flatMap((each) => each.transfers));
  const tokens = transfers.flatMap(({ token }) => (token === '' ? [] : [token]));
  const wallets = transfers.flatMap(({ from, to }) => [from, to]);
  const distinct = (digits: readonly string[]) => [...new Set(digits)].map((each): Hex => `0x${each}`);
  return { tokens: distinct(tokens), wallets: distinct(wallets) };
}

/** Lists with tokens that appear early, and with the last ones of these blocks. */
function listsOf(blocks: readonly PlainBlock[], shift = 0): PlainLists & { equivalents: Hex[] } {
  const { tokens, wallets } = namesIn(blocks);
  return {
    equivalents: [tokens[shift]!, tokens.at(-1 - shift)!],
    quotes: [tokens[1 + shift]!, tokens[2 + shift]!, tokens.at(-2 - shift)!],
    sinks: wallets.slice(4 + shift, 6 + shift),
  };
}

function rulesOf({ equivalents, quotes, sinks }: PlainLists): TradeRules {
  const configured = { nativeEquivalents: equivalents, quoteTokens: quotes, feeSinks: sinks };
  return newTradeRules({ chainId: 1, wrappedNative: [], configured });
}

/** Some stretches of every chain here are read without traces. */
function isGap(number: number): boolean {
  return Math.floor(number / 5) % 4 === 1;
}

/** The blocks as batches, each with or without traces. */
function batchesOf(blocks: readonly PlainBlock[]): ReturnType<typeof toBatch>[] {
  const batches: PlainBlock[][] = [];
  for (const block of blocks) {
    const last = batches.at(-1);
    if (last?.[0] !== undefined && isGap(last[0].number) === isGap(block.number)) last.push(block);
    else batches.push([block]);
  }
  return batches.map((some) => toBatch(some, !isGap(some[0]!.number)));
}

function freshDump(path: string, blocks: readonly PlainBlock[], rules: TradeRules): string[] {
  const writer = openWriter(path);
  writer.setTradeRules(rules);
  writer.append(batchesOf(blocks));
  writer.close();
  return dumpIndex(path);
}

function differences(actual: readonly string[], expected: readonly string[]): string[] {
  const [has, wants] = [new Set(actual), new Set(expected)];
  return [...actual.filter((row) => !wants.has(row)), ...expected.filter((row) => !has.has(row))];
}

/** The rows of a dump without the number of their generation, which counts the lists that an index ever had. */
function withoutGeneration(dump: readonly string[]): string[] {
  return dump.map((row) =>
    row.startsWith('trade_rules')
      ? row.replace(/ generation=\d+| checksum=\S+/g, '')
      : row.replace(/ generation=\d+/, ''),
  );
}

for (const seed of [1, 2, 3, 4, 5, 6])
  test(`after commits, forks, kills and steps the sums equal a count and a fresh index (seed ${seed})`, (t) => {
    const dir = tempDir(t);
    const random = randomSource(seed);
    const path = join(dir, 'index.db');
    let writer = openWriter(path);
    let chain = tradingBlocks(60, seed);
    const lists = listsOf(chain);
    const rules = rulesOf(lists);
    if (seed % 2 > 0) writer.setTradeRules(rules); // else an index of an earlier release
    for (const batch of batchesOf(chain)) writer.append([batch]);
    writer.setTradeRules(rules);
    if (seed % 3 === 0) {
      writer.close();
      forgetDerived(path);
      writer = openWriter(path);
    }
    for (let event = 1; event <= 30; event++) {
      const choice = random();
      if (choice < 0.3) writer.deriveStep(1 + Math.floor(random() * 60));
      else if (choice < 0.5) {
        writer.close();
        writer = openWriter(path);
      } else if (choice < 0.75) {
        const salt = seed * 100 + event;
        const added = tradingBlocks(
          1 + Math.floor(random() * 20),
          salt,
          chain.length + 1,
          chain.at(-1)?.hash,
        );
        writer.append(batchesOf(added));
        chain = chain.concat(added);
      } else {
        const keep = Math.max(0, chain.length - 1 - Math.floor(random() ** 2 * chain.length));
        writer.rollback(keep);
        chain = chain.slice(0, keep);
      }
    }
    while (writer.deriveStep(50) !== null);
    writer.close();
    assert.deepEqual(storedSums(path), plainSums(path, lists, isGap));
    const fresh = freshDump(join(dir, 'fresh.db'), chain, rules);
    assert.deepEqual(differences(withoutGeneration(dumpIndex(path)), withoutGeneration(fresh)), []);
  });

test('the chains of these tests have trades of every kind', (t) => {
  const path = join(tempDir(t), 'index.db');
  const chain = tradingBlocks(500, 1);
  const lists = listsOf(chain);
  freshDump(path, chain, rulesOf(lists));
  const sums = storedSums(path);
  assert.deepEqual(sums, plainSums(path, lists, isGap));
  assert.ok(sums.length > 60, `${sums.length}`);
  assert.ok(
    sums.some((row) => row.includes(' native 0x')) && sums.some((row) => /0x\w+ 0x\w+ native/.test(row)),
  );
  assert.ok(sums.length < plainSums(path, lists, () => false).length);
});

test('blocks that turn out to be complete get their trades, in parts, and lose them again in a rollback', (t) => {
  const dir = tempDir(t);
  const path = join(dir, 'index.db');
  const chain = tradingBlocks(60, 4);
  const lists = listsOf(chain);
  freshDump(path, chain, rulesOf(lists));
  const writer = openWriter(path);
  writer.setComplete('trace', { first: 7, last: 27 });
  assert.deepEqual(
    storedSums(path),
    plainSums(path, lists, (block) => isGap(block) && (block < 7 || block > 27)),
  );
  writer.setComplete('trace', { first: 1, last: 60 });
  assert.deepEqual(
    storedSums(path),
    plainSums(path, lists, () => false),
  );
  writer.rollback(20);
  assert.deepEqual(
    storedSums(path),
    plainSums(path, lists, () => false),
  );
  writer.rollback(0);
  assert.deepEqual(storedSums(path), []);
  writer.close();
});

/** The lists of a chain, and an index of it that begins to change to others. */
function changingIndex(t: TestContext) {
  const path = join(tempDir(t), 'index.db');
  const chain = tradingBlocks(80, 9);
  const [lists, others] = [listsOf(chain), listsOf(chain, 1)];
  freshDump(path, chain.slice(0, 60), rulesOf(lists));
  const writer = openWriter(path);
  writer.setTradeRules(rulesOf(others));
  return { path, chain, lists, others, writer };
}

test('other lists: the sums by the former ones stay in use until those by the new ones are complete', (t) => {
  const { path, chain, lists, others, writer } = changingIndex(t);
  const before = plainSums(path, lists, isGap);
  assert.notDeepEqual(before, plainSums(path, others, isGap));
  writer.deriveStep(40);
  assert.deepEqual(storedSums(path), before);
  assert.deepEqual(
    writer.incompleteDerived().map(({ name }) => name),
    ['new_trade_sums'],
  );
  writer.append(batchesOf(chain.slice(60)));
  writer.rollback(70);
  assert.deepEqual(storedSums(path), plainSums(path, lists, isGap));
  while (writer.deriveStep(40) !== null);
  assert.deepEqual(writer.tradeRules(), { current: rulesOf(others), next: null });
  assert.deepEqual(storedSums(path), plainSums(path, others, isGap));
  assert.deepEqual(writer.incompleteDerived(), []);
  writer.close();
  const fresh = freshDump(join(tempDir(t), 'fresh.db'), chain.slice(0, 70), rulesOf(others));
  assert.deepEqual(differences(withoutGeneration(dumpIndex(path)), withoutGeneration(fresh)), []);
});

test('lists that are changed back, or again, leave nothing of those in between', (t) => {
  const { path, chain, lists, others, writer } = changingIndex(t);
  writer.deriveStep(40);
  writer.setTradeRules(rulesOf(lists));
  assert.deepEqual(writer.tradeRules(), { current: rulesOf(lists), next: null });
  while (writer.deriveStep(40) !== null);
  const own = freshDump(join(tempDir(t), 'own.db'), chain.slice(0, 60), rulesOf(lists));
  assert.deepEqual(differences(withoutGeneration(dumpIndex(path)), withoutGeneration(own)), []);
  writer.setTradeRules(rulesOf(others));
  writer.deriveStep(40);
  const third = rulesOf(listsOf(chain, 2));
  writer.setTradeRules(third);
  while (writer.deriveStep(40) !== null);
  writer.close();
  const fresh = freshDump(join(tempDir(t), 'fresh.db'), chain.slice(0, 60), third);
  assert.deepEqual(differences(withoutGeneration(dumpIndex(path)), withoutGeneration(fresh)), []);
});

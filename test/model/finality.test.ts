/** Which blocks are final. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Hex } from '../../src/lib/hex.ts';
import type { BlockRef } from '../../src/model/block.ts';
import {
  afterPoll,
  afterTagPoll,
  blocksToPoll,
  explainRule,
  type FinalityRule,
  finalInIndex,
  finalityOf,
  finalNow,
  finalOfIndex,
  finalShown,
  followedHead,
  type HeadTag,
  headTagFor,
  highestBeyondReorg,
  holdsFinalOnly,
  isFinal,
  isProved,
  isProvenFinal,
  type NodeFinality,
  nodePoll,
  pollFrom,
  reorgLimit,
  reorgRefusal,
  ruleNow,
  UNPROVED,
  type WantedFinality,
} from '../../src/model/finality.ts';

const block = (number: number, branch = 'a'): BlockRef => ({
  number,
  hash: `0x${branch}${number.toString(16).padStart(63, '0')}`,
});

/** An index of blocks up to `head`, all of branch `a`. */
const indexUpTo =
  (head: number) =>
  (number: number): Hex | null =>
    number <= head ? block(number).hash : null;

test('no block is final while none is known to be', () => {
  assert.equal(isFinal(0, null), false);
  assert.equal(isFinal(0, -1), false);
  assert.equal(isFinal(7, 7), true);
  assert.equal(isFinal(8, 7), false);
});

test('only Monad is followed at its final head unless the operator chooses', () => {
  assert.equal(headTagFor('auto', 'Monad/0.16.0'), 'finalized');
  assert.equal(headTagFor('auto', 'Geth/v1.16'), 'latest');
  assert.equal(headTagFor('latest', 'Monad/0.16.0'), 'latest');
  assert.equal(headTagFor('finalized', 'Geth/v1.16'), 'finalized');
});

const rule = (chainId: number, client = 'Geth/v1.16', wanted: WantedFinality = 'auto') => {
  const { rule, isDevelopment } = finalityOf(wanted, { chainId, client });
  return isDevelopment ? `${rule}, development` : rule;
};

test('the rule follows from the setting, the node software and the chain, in this order', () => {
  assert.equal(rule(1), 'tag');
  assert.equal(rule(143, 'Monad/0.16.0'), 'tag');
  assert.equal(rule(43_114), 'instant');
  assert.equal(rule(31_337), 'depth, development');
  assert.equal(rule(1_337, 'unnamed software'), 'depth, development');
  for (const client of [
    'HardhatNetwork/2.26.0/@nomicfoundation/edr/0.11.3',
    'Ganache/v7.9.2/EthereumJS TestRPC/v7.9.2/ethereum-js',
    'EthereumJS TestRPC/v2.13.2/ethereum-js',
    'anvil/v1.7.1',
  ])
    assert.equal(rule(1, client), 'depth, development', client);
  assert.equal(rule(1_337, 'besu/v25', 'instant'), 'instant', 'a private chain that finalizes at once');
  assert.equal(rule(31_337, 'anvil/v1.7.1', 'tag'), 'tag');
  assert.equal(rule(31_337, 'anvil/v1.7.1', 'depth'), 'depth, development');
  assert.equal(rule(43_114, 'avalanche', 'depth'), 'depth');
});

/** Polls that show these heads and final blocks. */
const proofAfter = (...polls: [head: number, final: number | null, isOneAnswer?: boolean][]): boolean => {
  let proof = UNPROVED;
  for (const [head, final, isOneAnswer = true] of polls) {
    const blocks = [block(head), final === null ? null : block(final)];
    proof = afterTagPoll(proof, pollFrom('tag', blocks, isOneAnswer));
  }
  return isProved(proof);
};

test('a tag is proved by three successive polls with rising heads and the final block below', () => {
  assert.equal(proofAfter([10, 9], [11, 9], [12, 9]), true);
  assert.equal(proofAfter([10, 9], [11, 9]), false);
  assert.equal(proofAfter([10, 8], [10, 9], [10, 9], [11, 9]), false, 'one head counts once');
  assert.equal(proofAfter([10, 9], [11, 9], [12, 9], [13, 13]), true, 'a chain at rest');
});

test('a node that calls its latest block final, or none, proves no tag', () => {
  assert.equal(proofAfter([10, 10], [11, 11], [12, 12], [13, 13]), false);
  assert.equal(proofAfter([10, 9], [11, 9], [12, 12], [13, 12], [14, 13]), false, 'races between answers');
  assert.equal(proofAfter([10, 11], [11, 12], [12, 13]), false, 'final blocks above the head');
  assert.equal(proofAfter([10, 9, false], [11, 9, false], [12, 9, false]), false, 'answers of two nodes');
  assert.equal(proofAfter([10, 0], [11, 0], [12, 0]), false, 'no consensus client');
  assert.equal(proofAfter([10, null], [11, null], [12, null]), false);
});

test('until the tag is proved, the depth decides', () => {
  const started = { polls: 2, head: 12 };
  const proved = { polls: 3, head: 13 };
  assert.equal(ruleNow('tag', started), 'depth');
  assert.equal(ruleNow('tag', proved), 'tag');
  assert.equal(ruleNow('instant', UNPROVED), 'instant');
  const tag = finalityOf('auto', { chainId: 1, client: 'Geth' });
  const poll = (final: BlockRef | null) => pollFrom('tag', [block(10), final], true);
  assert.deepEqual(explainRule(tag, proved, poll(block(3))), {
    rule: 'tag',
    reason: 'the node calls blocks finalized',
  });
  assert.match(explainRule(tag, started, poll(block(3))).reason, /in 2 of 3 successive polls$/);
  assert.match(explainRule(tag, UNPROVED, null).reason, /not been asked/);
  assert.match(explainRule(tag, started, poll(null)).reason, /calls no block finalized/);
});

test('no block above the lower of the final one and the head is final', () => {
  assert.equal(finalShown('tag', [block(10), block(7)], 3), 7);
  assert.equal(finalShown('tag', [block(10), block(15)], 3), 10);
  assert.equal(finalShown('tag', [null, block(15)], 3), -1);
  assert.equal(finalShown('tag', [block(10), null], 3), -1);
  assert.equal(finalShown('instant', [block(10)], 3), 10);
  assert.equal(finalShown('depth', [block(10)], 3), 7);
  assert.equal(isFinal(0, finalShown('depth', [block(2)], 3)), false);
});

test('the final blocks of an index are those up to its anchor, or by depth without one', () => {
  assert.equal(finalOfIndex({ anchor: 40, head: 100, maxReorg: 8 }), 40);
  assert.equal(finalOfIndex({ anchor: null, head: 100, maxReorg: 8 }), 92);
  assert.equal(finalOfIndex({ anchor: null, head: 7, maxReorg: 8 }), null);
});

test('a reorg may remove at most max_reorg blocks and no final one', () => {
  const limits = { isAllFinal: false, finalized: 90, maxReorg: 8 };
  assert.equal(reorgRefusal(limits, { to: 92, height: 100 }), null);
  assert.equal(reorgRefusal(limits, { to: 91, height: 100 }), 'reorg_too_deep');
  assert.equal(reorgRefusal({ ...limits, maxReorg: 20 }, { to: 90, height: 100 }), null);
  assert.equal(reorgRefusal({ ...limits, maxReorg: 20 }, { to: 89, height: 100 }), 'reorg_below_finalized');
  assert.equal(
    reorgRefusal({ ...limits, isAllFinal: true }, { to: 99, height: 100 }),
    'reorg_below_finalized',
  );
});

test('an index has final blocks only where the rule says so for every block', () => {
  const holds = (head: HeadTag, wanted: FinalityRule, isTagProved = false) =>
    holdsFinalOnly(head, { rule: wanted, isDevelopment: false }, isTagProved);
  assert.equal(holds('finalized', 'tag', true), true);
  assert.equal(holds('finalized', 'tag'), false);
  assert.equal(holds('latest', 'tag', true), false);
  assert.equal(holds('latest', 'instant'), true);
  assert.equal(holds('finalized', 'depth'), true);
  assert.equal(holds('latest', 'depth'), false);
  assert.equal(holdsFinalOnly('finalized', { rule: 'depth', isDevelopment: true }, false), false);
});

test('an index of final blocks follows the tag, the head or the block max_reorg below it', () => {
  assert.deepEqual(followedHead('latest', 'depth'), { tag: 'latest', isBelow: false });
  assert.deepEqual(followedHead('finalized', 'tag'), { tag: 'finalized', isBelow: false });
  assert.deepEqual(followedHead('finalized', 'instant'), { tag: 'latest', isBelow: false });
  assert.deepEqual(followedHead('finalized', 'depth'), { tag: 'latest', isBelow: true });
});

test('only the limit that an operator sets bounds the reorgs of a development node', () => {
  assert.equal(reorgLimit({ isDevelopment: false }, 128), 128);
  assert.equal(reorgLimit({ isDevelopment: true }, 128), Number.POSITIVE_INFINITY);
  assert.equal(reorgLimit({ isDevelopment: true }, 16), 16);
});

test('no reorg reaches the final block, nor blocks max_reorg below the head', () => {
  assert.equal(highestBeyondReorg({ finalized: 95, head: 100, maxReorg: 8 }), 95);
  assert.equal(highestBeyondReorg({ finalized: null, head: 100, maxReorg: 8 }), 92);
  assert.equal(highestBeyondReorg({ finalized: null, head: 3, maxReorg: 8 }), -1);
});

/** A poll of a node at block 30 for an index that ends at `atHead`. */
const pollOf = (final: BlockRef | null, atHead: BlockRef | null, isOneAnswer = true) =>
  pollFrom('tag', [block(30), final, atHead], isOneAnswer);

test('the anchor is the final block of the node if the index has it', () => {
  const found = (final: BlockRef | null) => finalInIndex(pollOf(final, block(10)), block(10), indexUpTo(10));
  assert.equal(found(block(6)), 6);
  assert.equal(found(block(6, 'b')), null);
  assert.equal(found(null), null);
});

test('the last block of an index below the final block is final if one node has both', () => {
  const head = block(10);
  const found = (atHead: BlockRef | null, isOneAnswer = true, last = 10) =>
    finalInIndex(pollOf(block(20), atHead, isOneAnswer), head, indexUpTo(last));
  assert.equal(found(head), 10);
  assert.equal(found(head, false), null);
  assert.equal(found(block(10, 'b')), null);
  assert.equal(found(null), null);
  assert.equal(found(head, true, 9), null, 'rolled back');
});

test('a final block above the head of the node makes its head final', () => {
  const found = (isOneAnswer: boolean) =>
    finalInIndex(pollFrom('tag', [block(8), block(12), null], isOneAnswer), block(10), indexUpTo(10));
  assert.equal(found(true), 8);
  assert.equal(found(false), null);
});

test('a poll asks for the head first, and for the final block only by tag', () => {
  assert.deepEqual(blocksToPoll('tag', []), ['latest', 'finalized']);
  assert.deepEqual(blocksToPoll('tag', [7]), ['latest', 'finalized', 7]);
  assert.deepEqual(blocksToPoll('depth', [7, 9]), ['latest', 7, 9]);
});

test('the final block of the node rises while the node keeps the last one', () => {
  const state: NodeFinality = { kind: 'confirmed', anchor: block(7), at: 0 };
  const after = (final: BlockRef | null, atKnown: BlockRef | null) => afterPoll(state, { final, atKnown }, 5);
  assert.deepEqual(after(block(9), block(7)), { kind: 'confirmed', anchor: block(9), at: 5 });
  assert.deepEqual(after(block(5), block(7)), { kind: 'confirmed', anchor: block(7), at: 5 });
  assert.equal(after(block(9), null), 'unclear');
  assert.equal(after(block(9), block(7, 'b')), 'replaced');
  assert.equal(after(null, block(7)), 'none');
});

test('without a tag, the block max_reorg below the head before is final', () => {
  const known = block(3);
  const shown = (head: number, below: number | null) => {
    const heights = [known.number, ...(below === null ? [] : [below])];
    const poll = pollFrom('depth', [block(head), ...heights.map((height) => block(height))], true);
    return nodePoll('depth', poll, { known, below, maxReorg: 4 });
  };
  assert.deepEqual(shown(10, 6), { final: block(6), atKnown: known });
  assert.deepEqual(shown(9, 6), { final: null, atKnown: known }, 'the head fell');
  assert.deepEqual(shown(10, null), { final: null, atKnown: known });
});

test('a confirmed block counts as final for ten seconds', () => {
  const state: NodeFinality = { kind: 'confirmed', anchor: block(7), at: 1_000 };
  assert.deepEqual(finalNow(state, 1_000), { block: 7, isDue: false });
  assert.deepEqual(finalNow(state, 11_000), { block: 7, isDue: true });
  assert.deepEqual(finalNow(state, 11_001), { block: -1, isDue: true });
  assert.deepEqual(finalNow({ kind: 'unconfirmed', anchor: block(7) }, 0), { block: -1, isDue: true });
});

test('an answer is final only if the node that gave it calls its block final too', () => {
  assert.equal(isProvenFinal(7, 9, 8), true);
  assert.equal(isProvenFinal(7, 9, 6), false);
  assert.equal(isProvenFinal(7, 6, 8), false);
  assert.equal(isProvenFinal(7, 9, -1), false);
});

test('no other file compares a block with the final one, or the followed head with a tag', () => {
  const src = fileURLToPath(new URL('../../src', import.meta.url));
  const rules =
    /(?<!=)[<>]=? *[\w.]*finali[sz]ed\b|\bfinali[sz]ed\w*(\(\))? *[<>+-]|headTag [=!]== 'finalized'/i;
  const found = readdirSync(src, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file) && file !== join('model', 'finality.ts'))
    .flatMap((file) =>
      readFileSync(join(src, file), 'utf8')
        .split('\n')
        .filter((line) => rules.test(line) && !/^\s*(\*|\/[/*])/.test(line))
        .map((line) => `${file}: ${line.trim()}`),
    );
  assert.deepEqual(found, []);
});

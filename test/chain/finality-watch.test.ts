/** The final block that the node confirms. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FinalityWatch } from '../../src/chain/finality-watch.ts';
import type { Hex } from '../../src/lib/hex.ts';
import type { BlockRef } from '../../src/model/block.ts';
import { type FinalityPoll, pollFrom } from '../../src/model/finality.ts';

const hash = (digit: string): Hex => `0x${digit.repeat(64)}`;
const block = (number: number, branch: string): BlockRef => ({ number, hash: hash(branch) });

/** A watch over a node with instant finality that answers when the test tells it to. */
function setUp() {
  const waiting: ((poll: FinalityPoll) => void)[] = [];
  let replaced = 0;
  const finality = new FinalityWatch(() => new Promise((resolve) => waiting.push(resolve)), 128);
  finality.setRule('instant', 'node');
  finality.onReplaced(() => replaced++);
  return {
    finality,
    replaced: () => replaced,
    /** Answers each waiting poll: this block is final, and the node's block at the known height. */
    async answer(one: BlockRef) {
      for (const resolve of waiting.splice(0)) resolve(pollFrom('instant', [one, one], true));
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

test('nothing is final, and nobody is asked, before the rule of the chain is known', async () => {
  const asked: unknown[] = [];
  const finality = new FinalityWatch(async (...poll) => {
    asked.push(poll);
    return pollFrom('tag', [], true);
  }, 128);
  assert.equal(finality.finalizedNumber(1_000), -1);
  finality.pollIfAbove(7, 1_000);
  assert.equal(finality.answerProof().finalIn([block(9, 'a'), block(7, 'a')]), -1);
  assert.deepEqual(asked, []);
});

test('another node is asked to prove its tag again, and nothing of the former one is final', async () => {
  let head = 200;
  const finality = new FinalityWatch(async (rule, heights) => {
    head++;
    return pollFrom(
      rule,
      [block(head, 'a'), block(head - 1, 'a'), ...heights.map((at) => block(at, 'a'))],
      true,
    );
  }, 128);
  const poll = async (now: number) => {
    finality.pollIfAbove(10_000, now);
    await new Promise((resolve) => setImmediate(resolve));
    return finality.finalizedNumber(now);
  };
  finality.setRule('tag', 'one');
  assert.deepEqual([await poll(1_000), await poll(2_000), await poll(3_000)], [-1, 73, 202]);
  assert.deepEqual(finality.answerProof().tags, ['latest', 'finalized']);
  finality.setRule('tag', 'two');
  assert.equal(finality.finalizedNumber(3_001), -1);
  assert.deepEqual(finality.answerProof().tags, ['latest']);
  assert.equal(finality.answerProof().finalIn([block(204, 'a')]), 204 - 128);
});

test('an answer requested before a failure or a rewrite of the chain is ignored', async () => {
  for (const forget of ['invalidate', 'reset'] as const) {
    const { finality, answer } = setUp();
    finality.pollIfAbove(7, 1_000);
    finality[forget]();
    await answer(block(7, 'a'));
    assert.equal(finality.finalizedNumber(1_001), -1, forget);

    assert.equal(finality.finalizedNumber(2_000), -1, 'asks again');
    await answer(block(5, 'b'));
    assert.equal(finality.finalizedNumber(2_001), 5, forget);
  }
});

test('another hash requested before a failure proves nothing; the next check does', async () => {
  const { finality, answer, replaced } = setUp();
  finality.pollIfAbove(7, 1_000);
  await answer(block(7, 'a'));
  finality.pollIfAbove(8, 2_000);
  finality.invalidate();
  await answer(block(7, 'b'));
  assert.equal(replaced(), 0);
  assert.equal(finality.finalizedNumber(3_000), -1);
  await answer(block(7, 'b'));
  assert.equal(replaced(), 1);
});

test('a rollback below the final block forgets it, one at or above it does not', async () => {
  const { finality, answer, replaced } = setUp();
  finality.rolledBack(3);
  finality.pollIfAbove(7, 1_000);
  await answer(block(7, 'a'));
  finality.rolledBack(7);
  assert.equal(finality.finalizedNumber(1_001), 7);
  finality.rolledBack(6);
  assert.equal(finality.finalizedNumber(1_002), -1);
  assert.equal(replaced(), 1);
});

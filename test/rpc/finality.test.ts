/** What is known to be final. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Answer } from '../../src/rpc/call.ts';
import { Finality } from '../../src/rpc/finality.ts';
import { resultPayload } from '../../src/rpc/payload.ts';

const hash = (digit: string) => `0x${digit.repeat(64)}`;
const block = (number: number, branch: string): Answer => ({
  payload: resultPayload(
    JSON.stringify({ number: `0x${number.toString(16)}`, hash: hash(branch), parentHash: hash('0') }),
  ),
  status: 200,
});

/** A node that answers when the test lets it. */
function setUp() {
  const waiting: ((answer: Answer) => void)[] = [];
  const ask = () => new Promise<Answer>((resolve) => waiting.push(resolve));
  let replaced = 0;
  const finality = new Finality(ask, () => replaced++);
  return {
    finality,
    replaced: () => replaced,
    async answer(one: Answer) {
      for (const resolve of waiting.splice(0)) resolve(one);
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

test('what the node says to a question from before its failure or a rewrite of the chain does not count', async () => {
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

test('an answer that names another block than before, asked before a failure, leaves it to the next to tell', async () => {
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

test('a rollback below what was final forgets it, one above does not', async () => {
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

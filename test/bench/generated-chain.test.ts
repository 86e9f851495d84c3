import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { blockLines, chainLines } from '../../src/bench/chain/exchanges.ts';
import { generateChain } from '../../src/bench/chain/generate.ts';
import type { ChainOptions } from '../../src/bench/chain/options.ts';

const SMALL: Partial<ChainOptions> = { blocks: 30, txPerBlock: 12 };

test('the same options give the same chain and the same expected results', () => {
  const first = generateChain(SMALL);
  const second = generateChain(SMALL);
  assert.deepEqual([...first.blocks], [...second.blocks]);
  assert.deepEqual(first.expected(), second.expected());
});

test('another seed gives another chain', () => {
  assert.notEqual(digest(SMALL), digest({ ...SMALL, seed: 2 }));
});

/** By the generator whose chains the published figures were measured with. */
const FIRST_PUBLISHED = '7739f20f13c9985a303816fab133bec5a89c503e471a90adc7610f7c2ff194e3';

test('the chain of a seed never changes, so that published figures stay comparable', () => {
  assert.equal(digest(SMALL), FIRST_PUBLISHED);
});

test('a chain without traces has the same transactions as one with them', () => {
  const traced = [...generateChain(SMALL).blocks];
  const untraced = [...generateChain({ ...SMALL, traces: false }).blocks];
  assert.deepEqual(
    untraced,
    traced.map((block) => ({ ...block, trace: null })),
  );
});

test('blocks are numbered from the start block and linked by hash', () => {
  const blocks = [...generateChain({ ...SMALL, startBlock: 500 }).blocks];
  blocks.forEach((block, i) => {
    const json: { number: string; hash: string; parentHash: string } = JSON.parse(block.block);
    assert.equal(block.number, 500 + i);
    assert.equal(Number(json.number), block.number);
    assert.equal(json.hash, block.hash);
    if (i > 0) assert.equal(json.parentHash, blocks[i - 1]?.hash);
  });
});

test('the expected results are refused before the chain was read to its end', () => {
  const chain = generateChain(SMALL);
  for (const { number } of chain.blocks) {
    if (number === 29) break;
  }
  assert.throws(() => chain.expected(), /when all its blocks were read/);
});

/** SHA-256 of the chain's file form and its expected results. */
function digest(options: Partial<ChainOptions>): string {
  const chain = generateChain(options);
  const hash = createHash('sha256').update(chainLines(chain.options.chainId));
  for (const block of chain.blocks) hash.update(blockLines(block));
  return hash.update(JSON.stringify(chain.expected(), null, 1)).digest('hex');
}

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { generateChain } from '../../scripts/simulator/chain/generate.ts';
import type { ChainOptions } from '../../scripts/simulator/chain/options.ts';
import { chainLines } from '../support/chain/chain-file.ts';

const SMALL: Partial<ChainOptions> = { blocks: 30, txPerBlock: 12 };

test('the same options give the same chain', () => {
  assert.deepEqual([...generateChain(SMALL).blocks], [...generateChain(SMALL).blocks]);
});

test('another seed gives another chain', () => {
  assert.notEqual(digest(SMALL), digest({ ...SMALL, seed: 2 }));
});

/** By the generator whose chains the published figures were measured with. */
const FIRST_PUBLISHED = 'fd91c589e65e1f7d4510b60c790141cbea4051c40a1982812797195e6938b3ef';

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

/** SHA-256 of the chain's file form. */
function digest(options: Partial<ChainOptions>): string {
  return createHash('sha256').update(chainLines(options)).digest('hex');
}

/** The comparison of recount.test.ts on longer chains. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { recountGeneratedChain, recountRandomChain } from './recounted-chains.ts';

for (const [seed, blocks] of [
  [1, 90],
  [2, 350],
] as const)
  test(`every answer equals a recount of a random chain of ${blocks} blocks`, (t) =>
    recountRandomChain(t, seed, blocks));

test('every answer equals a recount of a generated chain of 80 blocks, with balances above 256 bits', async (t) => {
  const recount = await recountGeneratedChain(t, 80);
  const balances = recount.tokens.flatMap((token) => [...recount.balances(token).values()]);
  assert.ok(balances.some((balance) => balance >= 1n << 256n));
});

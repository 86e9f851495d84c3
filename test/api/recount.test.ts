/** All answers for every wallet and token of whole chains, compared with a recount of their transfers. */
import { test } from 'node:test';
import { recountGeneratedChain, recountRandomChain } from './recounted-chains.ts';

for (const [seed, blocks] of [
  [1, 90],
  [3, 1],
] as const)
  test(`every answer equals a recount of a random chain (seed ${seed}, ${blocks} blocks)`, (t) =>
    recountRandomChain(t, seed, blocks));

test('every answer equals a recount of a generated chain, whose transfers match the index one by one', async (t) => {
  await recountGeneratedChain(t, 20);
});

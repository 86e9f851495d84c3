/** All answers for every wallet and token of whole chains, compared with a recount of their transfers. */
import { test } from 'node:test';
import { recountGeneratedChain, recountRandomChain } from './recounted-chains.ts';

test('every answer equals a recount of a random chain of one block', (t) => recountRandomChain(t, 3, 1));

test('every answer equals a recount of a generated chain, whose transfers match the index one by one', async (t) => {
  await recountGeneratedChain(t, 20);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type AskBlock,
  type Availability,
  findOldestAvailable,
  stayAheadOfPruning,
} from '../../../src/indexer/backfill/oldest-available.ts';
import { UpstreamError } from '../../../src/lib/errors.ts';

const SERVED: Availability = { isServed: true, proves: true };
/** Nothing to prune, or no clear answer. */
const NEUTRAL: Availability = { isServed: true, proves: false };
const REFUSED: Availability = { isServed: false, words: 'missing trie node' };
const MISSING: Availability = { isServed: false, words: null };

/** Searches from `wanted` to block 100, and calls `during` while the proof is awaited. */
async function search(ask: AskBlock, wanted = 0, during = () => {}, head = 100): Promise<number> {
  return (await findOldestAvailable(wanted, head, ask, async () => during())).number;
}

test('a block the node has is the start', async () => {
  const never = () => assert.fail('nothing to prove');
  assert.equal(await search(async () => SERVED, 5, never), 5);
  assert.equal(await search(async () => SERVED, 100, never), 100);
});

for (const refusal of [REFUSED, MISSING])
  test(`on a node that has pruned (${refusal.isServed || refusal.words}) the start is the oldest left`, async () => {
    for (const oldest of [1, 2, 50, 99, 100]) {
      let proofs = 0;
      const ask: AskBlock = async (number) => (number >= oldest ? SERVED : refusal);
      assert.equal(await search(ask, 0, () => proofs++), oldest);
      assert.equal(proofs, 1);
    }
  });

test('blocks that have nothing to prune, between pruned ones, do not hide them', async () => {
  for (const empty of [[0], [0, 1, 2, 3, 4, 5], [0, 25, 50, 75], [0, 50, 56, 58, 59]]) {
    const ask: AskBlock = async (number) =>
      number >= 60 ? SERVED : empty.includes(number) ? NEUTRAL : REFUSED;
    assert.equal(await search(ask), empty.includes(59) ? 58 : 60, `empty: ${empty}`);
  }
});

test('blocks that the node refuses one by one are not pruned: it serves older ones', async () => {
  for (const refused of [[40], [50], [62, 63], [99], [23, 24, 25], [40, 60, 80]]) {
    const ask: AskBlock = async (number) => (refused.includes(number) ? REFUSED : SERVED);
    assert.equal(await search(ask, 0, () => assert.fail('nothing to prove')), 0, `refused: ${refused}`);
  }
});

test('a refusal hides no older border', async () => {
  const ask: AskBlock = async (number) => (number < 40 || number === 70 ? REFUSED : SERVED);
  assert.equal(await search(ask), 40);
});

test('blocks that are served once the proof is over are not pruned', async () => {
  let isBusy = true;
  const ask: AskBlock = async (number) => (number < 90 && isBusy ? REFUSED : SERVED);
  const end = () => {
    isBusy = false;
  };
  assert.equal(await search(ask, 0, end), 0);
});

test('refusals in different words, and a border that changes its reason, are unclear', async () => {
  const mixed: AskBlock = async (number) =>
    number >= 50 ? SERVED : { isServed: false, words: `reason ${number % 2}` };
  await assert.rejects(search(mixed), /unclear whether it has pruned/);
  let words = 'one';
  const changing: AskBlock = async (number) => (number >= 50 ? SERVED : { isServed: false, words });
  const change = () => {
    words = 'another';
  };
  await assert.rejects(search(changing, 0, change), /unclear whether it has pruned/);
});

test('the same words are recognised around a number or a path that some lack', async () => {
  const root = 'missing trie node … (path ) state … is not available';
  const below = root.replace('(path )', '(path …)');
  const ask: AskBlock = async (number) =>
    number >= 50 ? SERVED : { isServed: false, words: number % 3 ? root : below };
  assert.equal(await search(ask), 50);
});

test('where too few blocks are refused to tell, nothing is pruned', async () => {
  const ask: AskBlock = async (number) => (number > 511 ? SERVED : number > 508 ? REFUSED : NEUTRAL);
  await assert.rejects(
    search(ask, 0, () => assert.fail('no proof'), 1_000),
    /unclear whether it has pruned/,
  );
});

test('a border that moves up during the proof is followed', async () => {
  let oldest = 50;
  const ask: AskBlock = async (number) => (number >= oldest ? SERVED : REFUSED);
  const move = () => {
    oldest = 53;
  };
  assert.equal(await search(ask, 0, move), 53);
});

test('without any clear answer the start is the wanted block, which is waited for', async () => {
  assert.equal(
    await search(
      async () => NEUTRAL,
      3,
      () => assert.fail('no proof'),
    ),
    3,
  );
});

test('a node that serves no block at all counts as failing, not as pruned, and is retried', async () => {
  await assert.rejects(
    search(async () => REFUSED),
    UpstreamError,
  );
});

test('a start beyond the head is the node being behind, to be tried again', async () => {
  await assert.rejects(
    search(async () => SERVED, 101),
    UpstreamError,
  );
});

/** A chain that grew by `growth` blocks during the search and grows by `after` during the wait for growth. */
function growing(headBefore: number, growth: number, after = 1) {
  let head = headBefore + growth;
  return {
    headBefore,
    head: async () => head,
    async headAfter() {
      head += after;
      return head;
    },
  };
}

test('a node that keeps its oldest block while the chain grows costs the index no block', async () => {
  const kept: AskBlock = async (number) => (number >= 1 ? SERVED : REFUSED);
  assert.equal(await stayAheadOfPruning(1, growing(100, 4), kept), 1);
});

test('a node that prunes as the chain grows is outrun by twice the growth', async () => {
  const chain = growing(1_000, 4);
  const window: AskBlock = async (number) => (number > (await chain.head()) - 128 ? SERVED : REFUSED);
  // At head 1,004 the search found 877. At head 1,005 that block is gone.
  assert.equal(await stayAheadOfPruning(877, chain, window), 878 + 2 * 5);
});

test('an oldest block with nothing to prune in it does not hide that those after it go', async () => {
  const chain = growing(1_000, 4, 2);
  const window: AskBlock = async (number) =>
    number === 877 || number > (await chain.head()) - 128 ? SERVED : REFUSED;
  assert.equal(await stayAheadOfPruning(877, chain, window), 879 + 2 * 6);
});

test('the oldest block is not checked again while the head does not move, since nothing can be pruned', async () => {
  const never: AskBlock = async () => assert.fail('asked');
  assert.equal(await stayAheadOfPruning(7, growing(100, 0), never), 7);
});

/** What a follower that names the block it saw last does next. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nextAfter, type RemovedBlock } from '../../src/follower/removed-blocks.ts';
import { markOf, type Rewrites } from '../../src/model/rewrites.ts';

/** An index of blocks 0 to 12 of branch `b` above 7, and the removed blocks 8 to 10 of branch `a`. */
const HEAD = 12;
const indexed = new Set(Array.from({ length: HEAD + 1 }, (_, i) => `${i > 7 ? 'b' : 'a'}${i}`));
const removedBlocks: RemovedBlock[] = [8, 9, 10].map((number) => ({
  number,
  hash: `a${number}`,
  parent: `a${number - 1}`,
}));

const next = (
  number: number,
  hash: string,
  { remembered = removedBlocks, rewrites = [] as Rewrites, mark = null as string | null } = {},
) =>
  nextAfter(
    { number, hash, mark },
    {
      head: HEAD,
      rewrites,
      isIndexed: (block) => indexed.has(block.hash),
      removed: (wanted) => remembered.find((block) => block.hash === wanted),
    },
  );

test('a follower of a block that the index has gets what follows it', () => {
  assert.deepEqual(next(9, 'b9'), { outcome: { kind: 'rows', upTo: 12 }, gone: [] });
  assert.deepEqual(next(12, 'b12'), { outcome: { kind: 'idle' }, gone: [] });
});

test('a follower of a removed block withdraws down to the fork, highest block first', () => {
  assert.deepEqual(next(10, 'a10'), {
    outcome: { kind: 'withdrawn', from: 8, to: { number: 7, hash: 'a7' }, cause: 'reorg' },
    gone: removedBlocks.toReversed(),
  });
});

test('nothing is known of a branch without one of its blocks', () => {
  assert.equal(next(10, 'a10', { remembered: removedBlocks.slice(1) }), null);
  assert.equal(next(11, 'a11'), null);
});

test('nothing is known of a block that a repair has rewritten since', () => {
  const rewrite = { number: 1, first: 6, lowest: 6, highest: 11, token: 1 };
  const rewrites = [rewrite];
  assert.equal(next(9, 'b9', { rewrites }), null, 'no mark: seen before the repair, or by an old client');
  assert.equal(next(9, 'b9', { rewrites, mark: '0' }), null);
  assert.equal(next(10, 'a10', { rewrites }), null, 'on another branch as well');
  const rows = { outcome: { kind: 'rows', upTo: 12 }, gone: [] };
  assert.deepEqual(next(9, 'b9', { rewrites, mark: markOf(rewrite) }), rows, 'seen after it');
  assert.deepEqual(next(5, 'a5', { rewrites }), rows, 'below it');
  assert.deepEqual(
    next(12, 'b12', { rewrites }),
    { outcome: { kind: 'idle' }, gone: [] },
    'indexed after it',
  );
});

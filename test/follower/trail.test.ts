/** Where a follower that remembers a trail of hashes stands to the index. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Chain, KnownBlock } from '../../src/follower/outcome.ts';
import { nextOfTrail, type Part, type Position, trailTo } from '../../src/follower/trail.ts';
import type { Hex } from '../../src/lib/hex.ts';

const MARK = '1-3-0000abcd';

const hash = (number: number, branch = 'a'): Hex => `0x${branch}${number}`;
const known = (number: number, branch = 'a'): KnownBlock<Hex> => ({ number, hash: hash(number, branch) });
const part = (number: number, branch = 'a', withdrawn = false): Part => ({
  number,
  hash: hash(number, branch),
  withdrawn,
});

/** An index of blocks 0 to `head`: branch `a` up to `fork`, branch `b` above. */
const index = (head: number, fork = head, rewrittenFrom: number | null = null): Chain => ({
  rewrittenFrom,
  mark: MARK,
  head,
  hashAt: (number) => (number < 0 || number > head ? null : hash(number, number > fork ? 'b' : 'a')),
});

/** A follower that has passed block `number` of branch `a` and knows all blocks down to `lowest`. */
const at = (number: number, lowest = number - 5): Position => ({
  ...known(number),
  position: null,
  mark: MARK,
  trail: Array.from({ length: number - lowest }, (_, i) => known(number - 1 - i)),
});

const next = (position: Position, chain: Chain, parts: readonly Part[] = [], upTo = chain.head) =>
  nextOfTrail(position, parts, chain, { upTo, maxReorg: 8 });

test('blocks after the cursor are next, up to the last one that counts', () => {
  assert.deepEqual(next(at(10), index(12)), { kind: 'rows', upTo: 12 });
  assert.deepEqual(next(at(10), index(12), [], 11), { kind: 'rows', upTo: 11 });
  assert.deepEqual(next(at(10), index(12), [], 10), { kind: 'idle' });
  assert.deepEqual(next(at(10), index(10)), { kind: 'idle' });
  assert.deepEqual(next({ ...at(10), position: 3 }, index(10)), { kind: 'rows', upTo: 10 }, 'the rest of 10');
});

test('an index that ends below the cursor on the same branch is behind', () => {
  assert.deepEqual(next(at(10), index(8)), { kind: 'behind' });
});

test('a follower on another branch withdraws down to the highest block in common', () => {
  const found = next(at(10), index(12, 7));
  assert.equal(found.kind === 'withdrawn' && found.from, 8);
  assert.deepEqual(found.kind === 'withdrawn' && found.to, {
    ...known(7),
    position: null,
    mark: MARK,
    trail: [known(6), known(5)],
  });
});

test('another branch below the cursor shows although the index does not reach the cursor', () => {
  const found = next(at(10), index(9, 7));
  assert.equal(found.kind === 'withdrawn' && found.from, 8);
});

test('events sent above the cursor are withdrawn, and the cursor stays', () => {
  const position = at(10);
  const found = next(position, index(12, 10), [part(11)]);
  assert.deepEqual(found, { kind: 'withdrawn', from: 11, to: position, cause: 'reorg' });
});

test('a withdrawal that has begun is completed although the block is back', () => {
  const found = next(at(10), index(12), [part(9, 'a', true)]);
  assert.equal(found.kind === 'withdrawn' && found.from, 9);
});

test('without a trail the follower starts again max_reorg below the lost block', () => {
  const found = next({ ...known(10), position: null, trail: null, mark: MARK }, index(12, 7));
  assert.deepEqual(found.kind === 'withdrawn' && found.to, {
    number: 1,
    hash: null,
    position: null,
    mark: MARK,
    trail: [],
  });
});

test('a trail ends with a block that is final', () => {
  const between = [known(12), known(11)];
  assert.deepEqual(trailTo(13, { between, from: at(10, 5), final: 8 }), [
    known(12),
    known(11),
    known(10),
    known(9),
    known(8),
  ]);
  assert.deepEqual(trailTo(13, { between, from: at(10, 5), final: 13 }), []);
});

test('a rewrite below the cursor is withdrawn like a reorg, whatever the follower remembers', () => {
  const old = { ...at(10), mark: '0' };
  assert.deepEqual(next(old, index(12, 12, 9), [part(10), part(9), part(8)]), {
    kind: 'withdrawn',
    from: 9,
    to: { ...known(8), position: null, trail: [known(7), known(6), known(5)], mark: MARK },
    cause: 'rewrite',
  });
  const belowTrail = next(old, index(12, 12, 3));
  assert.deepEqual(belowTrail.kind === 'withdrawn' && belowTrail.to, {
    number: 2,
    hash: null,
    position: null,
    trail: [],
    mark: MARK,
  });
  assert.equal(
    next({ ...old, position: 3 }, index(10, 10, 10)).kind,
    'withdrawn',
    'in the middle of its block',
  );
});

test('a rewrite above the cursor takes only what was sent and perhaps accepted', () => {
  const old = { ...at(10), mark: '0' };
  assert.deepEqual(next(old, index(12, 12, 11)), { kind: 'rows', upTo: 12 });
  assert.deepEqual(next(old, index(12, 12, 11), [part(11)]), {
    kind: 'withdrawn',
    from: 11,
    to: { ...old, mark: MARK },
    cause: 'rewrite',
  });
});

test('a rewrite and a reorg at once are withdrawn down to the lower of the two', () => {
  const from = (found: ReturnType<typeof next>) => found.kind === 'withdrawn' && found.from;
  assert.equal(from(next(at(10), index(12, 7, 9))), 8);
  assert.equal(from(next(at(10), index(12, 8, 7))), 7);
});

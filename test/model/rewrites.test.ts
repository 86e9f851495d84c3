/** What the mark of an index tells about its rewrites. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  currentMark,
  isRewritten,
  MARK_PATTERN,
  markOf,
  markOfBlock,
  NO_REWRITES,
  type Rewrite,
  rewrittenBelow,
  rewrittenSince,
} from '../../src/model/rewrites.ts';

const FIRST: Rewrite = { number: 1, first: 50, lowest: 50, highest: 90, token: 7 };
const LOWER: Rewrite = { number: 2, first: 30, lowest: 30, highest: 95, token: 8 };
const HIGHER: Rewrite = { number: 3, first: 80, lowest: 30, highest: 120, token: 0xdeadbeef };
const ALL = [FIRST, LOWER, HIGHER];

test('a mark has one form', () => {
  assert.equal(currentMark([]), NO_REWRITES);
  assert.equal(currentMark(ALL), '3-30-deadbeef');
  for (const mark of [NO_REWRITES, ...ALL.map(markOf)]) assert.match(mark, MARK_PATTERN);
  for (const mark of ['', '00', '1', '0-1-00000001', '1-1-1', '1-1-0000000G', '1-1-00000001 '])
    assert.doesNotMatch(mark, MARK_PATTERN);
});

test('the lowest block rewritten since a mark covers every later rewrite', () => {
  assert.equal(rewrittenSince(ALL, markOf(HIGHER)), null);
  assert.equal(rewrittenSince(ALL, markOf(LOWER)), 80);
  assert.equal(rewrittenSince(ALL, markOf(FIRST)), 30, 'the second of the two is lower');
  assert.equal(rewrittenSince(ALL, NO_REWRITES), 30);
  assert.equal(rewrittenSince([], NO_REWRITES), null);
});

test('a mark of another copy counts for what either has rewritten', () => {
  const other = { ...LOWER, token: 9, lowest: 20 };
  assert.equal(rewrittenSince(ALL, markOf(other)), 20);
  assert.equal(rewrittenSince(ALL, markOf({ ...other, lowest: 40 })), 30);
  assert.equal(rewrittenSince([], markOf(other)), 20, 'a copy from before the repair, put back');
});

test('a forgotten rewrite counts as one before all others', () => {
  assert.equal(rewrittenSince([HIGHER], markOf(FIRST)), 30);
  assert.equal(rewrittenSince([HIGHER], NO_REWRITES), 30);
});

test('without a mark, a block counts as rewritten unless it was indexed after the last repair', () => {
  const withoutMark = (block: number) => isRewritten(ALL, block, null);
  assert.deepEqual([29, 30, 120, 121].map(withoutMark), [false, true, true, false]);
  assert.equal(isRewritten([], 5, null), false);
  assert.equal(rewrittenBelow(ALL, 100, markOf(LOWER)), 80);
  assert.equal(rewrittenBelow(ALL, 79, markOf(LOWER)), null);
});

test('a block names the last rewrite of its own, until it is rewritten again', () => {
  const marks = [29, 30, 60, 80, 96, 121].map((block) => markOfBlock(ALL, block));
  assert.deepEqual(marks, [null, markOf(LOWER), markOf(LOWER), markOf(HIGHER), markOf(HIGHER), null]);
  assert.equal(markOfBlock([HIGHER], 60), markOf(HIGHER), 'its own is forgotten');
  for (const block of [29, 30, 60, 80, 96, 121])
    assert.equal(isRewritten(ALL, block, markOfBlock(ALL, block)), false, `block ${block}`);
});

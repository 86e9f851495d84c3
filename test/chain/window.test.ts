/** How a head of the node relates to the known blocks. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ChainWindow } from '../../src/chain/window.ts';
import type { Hex } from '../../src/lib/hex.ts';
import type { BlockHeader } from '../../src/node/methods.ts';

/** Block `number` of a branch. Its parent is on the same branch unless another is given. */
function block(number: number, branch = 'a', parentBranch = branch): BlockHeader {
  const hash = (height: number, of: string): Hex => `0x${of}${height}`;
  return { number, hash: hash(number, branch), parentHash: hash(number - 1, parentBranch) };
}

/** A window that knows the blocks 10 to 15 of branch a. */
function setUp(): ChainWindow<BlockHeader> {
  const window = new ChainWindow<BlockHeader>(6);
  assert.equal(window.locate(block(15)), 'first');
  window.restart([10, 11, 12, 13, 14, 15].map((number) => block(number)));
  return window;
}

test('a head is known, new or behind by its hash and the oldest known block', () => {
  const window = setUp();
  assert.equal(window.locate(block(15)), 'known');
  assert.equal(window.locate(block(10)), 'known');
  assert.equal(window.locate(block(10, 'b')), 'new');
  assert.equal(window.locate(block(30)), 'new');
  assert.equal(window.locate(block(9)), 'behind');
});

test('a rollback of the index below the window shows that the chain was set back, one within it does not', () => {
  const window = setUp();
  window.noteRollback(10);
  assert.equal(window.locate(block(9)), 'behind');
  window.noteRollback(9);
  assert.equal(window.locate(block(15)), 'known');
  assert.equal(window.locate(block(9)), 'behind', 'the node had the blocks again since');
  window.noteRollback(9);
  assert.equal(window.locate(block(9)), 'set back');
  assert.equal(window.locate(block(9)), 'set back', 'until the window restarts');
  window.restart([block(8), block(9)]);
  assert.equal(window.locate(block(9)), 'known');
});

test('the fork point of a head is found by its parent hash before any header is fetched', async () => {
  const window = setUp();
  const fetched: number[] = [];
  const hashOf = async (number: number) => {
    fetched.push(number);
    return block(number, number > 12 ? 'b' : 'a').hash;
  };
  assert.equal(await window.findForkPoint(block(16), hashOf), 15);
  assert.equal(await window.findForkPoint(block(13, 'b', 'a'), hashOf), 12);
  assert.deepEqual(fetched, []);
  assert.equal(await window.findForkPoint(block(20, 'b'), hashOf), 12);
  const other = async (number: number) => block(number, 'c').hash;
  assert.equal(await window.findForkPoint(block(20, 'c'), other), 9, 'none of the known blocks');
});

test('blocks are replaced from a height on, and the oldest go when the window is full', () => {
  const window = setUp();
  assert.deepEqual(window.removeFrom(14), [block(14), block(15)]);
  for (const number of [14, 15, 16]) window.push(block(number, 'b'));
  assert.equal(window.oldestNumber, 11);
  assert.equal(window.hashAt(10), undefined);
  assert.equal(window.hashAt(14), block(14, 'b').hash);
  assert.deepEqual(window.blocksFrom(16), [block(16, 'b')]);
  assert.equal(window.removeFrom(0).length, 6);
});

/** Notices that the index has changed to another branch. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BranchWatch } from '../../src/follower/branch-watch.ts';

test('another branch, or a repair, shows when the last block of the previous call has gone', () => {
  const hashes = ['a0', 'a1', 'a2'];
  let mark = '0';
  const watch = new BranchWatch((number) => hashes[number]);
  const isChanged = () => {
    const number = hashes.length - 1;
    return watch.isChanged(number < 0 ? null : { number, hash: hashes[number]!, mark });
  };
  assert.equal(isChanged(), false, 'the first call');
  assert.equal(isChanged(), false);
  hashes.push('a3');
  assert.equal(isChanged(), false, 'it grew');
  hashes.splice(2, 2, 'b2', 'b3', 'b4');
  assert.equal(isChanged(), true, 'other blocks at the same heights');
  hashes.splice(3);
  assert.equal(isChanged(), true, 'it is shorter');
  hashes.push('c3');
  assert.equal(isChanged(), false, 'the last block is still there');
  mark = '1-2-0000abcd';
  assert.equal(isChanged(), true, 'a repair has rewritten it');
  assert.equal(isChanged(), false);
  hashes.splice(0);
  assert.equal(isChanged(), true, 'it is empty');
  assert.equal(isChanged(), false);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BatchLimit } from '../../src/node/send-in-batches.ts';

/** Full batches after which a larger one is tried. */
const FULL_BATCHES = 256;

test('a refused batch is halved, and half of it again, down to single calls', () => {
  const limit = new BatchLimit(100);
  const sizes = [limit.size];
  for (let i = 0; i < 8; i++) {
    limit.refused(limit.size);
    sizes.push(limit.size);
  }
  assert.deepEqual(sizes, [100, 50, 25, 12, 6, 3, 1, 1, 1]);
});

test('a late refusal of a larger batch does not raise the limit', () => {
  const limit = new BatchLimit(100);
  limit.refused(20);
  limit.refused(100);
  assert.equal(limit.size, 10);
});

test('only many full batches without a refusal let a larger one be tried, up to the configured size', () => {
  const limit = new BatchLimit(100);
  const accept = (count: number, calls = limit.size) => {
    for (let i = 0; i < count; i++) limit.accepted(calls);
  };
  limit.refused(60);
  accept(FULL_BATCHES - 1);
  accept(1_000, 29);
  assert.equal(limit.size, 30);
  accept(1);
  assert.equal(limit.size, 60);
  accept(FULL_BATCHES - 1);
  limit.refused(120);
  accept(FULL_BATCHES - 1);
  assert.equal(limit.size, 60);
  accept(1);
  assert.equal(limit.size, 100);
  accept(1_000);
  assert.equal(limit.size, 100);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ascendingOrder } from '../../src/lib/ascending-order.ts';
import { randomSource } from '../support/chain/random-chain.ts';

test('positions are sorted by number, whatever their count and size; equal numbers keep their order', () => {
  const random = randomSource(3);
  for (const count of [0, 1, 2, 256, 257, 5_000]) {
    for (const limit of [1, 2, 1_000, 2 ** 32, Number.MAX_SAFE_INTEGER]) {
      const keys = Float64Array.from({ length: count }, () => Math.floor(random() * limit));
      const expected = [...keys.keys()].sort((a, b) => keys[a]! - keys[b]! || a - b);
      assert.deepEqual([...ascendingOrder(keys)], expected, `${count} below ${limit}`);
    }
  }
});

test('sorting by a second number first orders the equal ones by it', () => {
  const random = randomSource(4);
  const draw = () => Float64Array.from({ length: 3_000 }, () => Math.floor(random() * 50));
  const [first, second] = [draw(), draw()];
  const expected = [...first.keys()].sort(
    (a, b) => first[a]! - first[b]! || second[a]! - second[b]! || a - b,
  );
  assert.deepEqual([...ascendingOrder(first, ascendingOrder(second))], expected);
});

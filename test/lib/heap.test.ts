import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Heap } from '../../src/lib/heap.ts';
import { randomSource } from '../support/chain/random-chain.ts';

test('a heap gives its items in order, while others are added', () => {
  const random = randomSource(3);
  for (let run = 0; run < 50; run++) {
    const heap = new Heap<number>((a, b) => a < b);
    let kept: number[] = [];
    for (let step = 0; step < 200; step++) {
      if (random() < 0.6) {
        const item = Math.floor(random() * 40);
        heap.push(item);
        kept.push(item);
      } else {
        kept = kept.sort((a, b) => a - b);
        assert.equal(heap.first, kept[0]);
        assert.equal(heap.pop(), kept.shift());
      }
    }
  }
  assert.equal(new Heap<number>(() => true).pop(), undefined);
});

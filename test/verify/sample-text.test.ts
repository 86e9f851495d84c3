import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sampleText } from '../../src/verify/check-blocks.ts';

test('a sample says how likely it finds 1 % of wrong blocks, and what reading all costs', () => {
  const text = sampleText(40, 1_000_000, 2);
  assert.match(text, /^40 of 1000000 blocks: .* a chance of 33\.1 %; --all reads all 1000000, some 14 hours/);
  assert.match(sampleText(2_000, 1_000_000, 2), /over 99\.99 %.*less than an hour/);
  assert.match(sampleText(0, 10, 0), /a chance of 0 %; --all reads all 10$/);
  assert.equal(sampleText(10, 10, 1), 'the sample has all blocks');
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nameIn } from '../../src/pages/explorer/transaction/sentences.ts';
import { ago, compact, shortAmount, shortHex, unitsText, unitsToText } from '../../src/pages/ui/format.ts';

const ADDRESS = `0x${'ab'.repeat(20)}`;

test('amounts of any size and any decimals are short, with powers of ten written one way', () => {
  const most = BigInt('9'.repeat(78));
  assert.equal(shortAmount(unitsToText(most, 0)), '1.00e78');
  assert.equal(shortAmount(unitsToText(most, 255)), '1.0e-177');
  assert.equal(shortAmount(unitsToText(-1n, 255)), '−1.0e-255');
  assert.equal(shortAmount(unitsToText(1n, 18)), '1.0e-18');
  assert.equal(shortAmount(unitsToText(12_345n, 10)), '0.0000012');
  assert.equal(shortAmount(unitsToText(0n, 255)), '0');
  assert.equal(compact(5.794e76), '5.79e76');
});

test('a time is so long ago, or ahead where a clock is wrong', () => {
  const now = Date.parse('2026-11-21T08:00:00Z');
  assert.equal(ago('2026-11-21T07:56:30Z', now), '3 min ago');
  assert.equal(ago('2026-11-21T08:00:40Z', now), '0 s ago');
  assert.equal(ago('2029-11-22T08:00:00Z', now), 'in 3 y');
});

test('an amount counts units while its decimals are unknown, with or without a symbol', () => {
  assert.equal(unitsText('1500000', 6, 'USD'), '1.5 USD');
  assert.equal(unitsText('1500000', null, 'USD'), '1,500,000 units USD');
  assert.equal(unitsText('5', null, null), '5 units');
  assert.equal(unitsText('5', 0, null), '5');
});

test('an address whose label or symbol is invisible is shown by its digits', () => {
  const label = { name: '\u200b\u200d', category: 'person', source: 'list' };
  const named = (symbol: string | null) =>
    nameIn(new Map([[ADDRESS, { label, symbol, decimals: null, type: null, contract: false }]]), ADDRESS);
  assert.equal(named(null), shortHex(ADDRESS));
  assert.equal(named('USD\u200b'), 'USD');
});

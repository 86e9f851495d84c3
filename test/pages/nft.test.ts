import assert from 'node:assert/strict';
import { test } from 'node:test';
import { holdersOf, tokenNumberIn } from '../../src/pages/explorer/token/nft.ts';
import { ZERO_ADDRESS } from '../../src/pages/ui/format.ts';

test('a token number is read from a URL or a field, and nothing else is one', () => {
  assert.equal(tokenNumberIn(' #0012 '), '12');
  assert.equal(tokenNumberIn('0'), '0');
  const largest = `${2n ** 256n - 1n}`;
  assert.equal(tokenNumberIn(largest), largest);
  for (const text of [null, '', '-1', '1.5', '0x1', '1 2', '9'.repeat(79)])
    assert.equal(tokenNumberIn(text), null);
});

test('holders are counted from all transfers, largest first, without those who gave all away', () => {
  const move = (from: string, to: string, amount: string) => ({ from, to, amount });
  assert.deepEqual(
    holdersOf([
      move('a', 'b', '2'),
      move(ZERO_ADDRESS, 'a', '9'),
      move('b', ZERO_ADDRESS, '1'),
      move('a', 'a', '3'),
      move('c', 'd', '5'),
      move('d', 'a', '5'),
    ]),
    [
      { address: 'a', units: 12n },
      { address: 'b', units: 1n },
      { address: 'c', units: -5n },
    ],
  );
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bigIntToBytes } from '../../../src/lib/hex.ts';
import { encodeSigned } from '../../../src/lib/signed.ts';
import { SUM_WORDS, WideSums } from '../../../src/store/commit/wide-sums.ts';
import { randomSource } from '../../support/chain/random-chain.ts';

test('sums equal those of bigints: of small, long and longest amounts, above and below zero', () => {
  const random = randomSource(5);
  const count = 8;
  const sums = new WideSums();
  sums.words = new Uint32Array(count * SUM_WORDS);
  const expected = new Array<bigint>(count).fill(0n);
  for (let step = 0; step < 6_000; step++) {
    const i = Math.floor(random() * count);
    const at = i * SUM_WORDS;
    const amount = randomAmount(random, i);
    const bytes = Buffer.concat([Buffer.from([7]), bigIntToBytes(amount), Buffer.from([9])]);
    if (random() < 0.5) {
      sums.add(at, bytes, 1, bytes.length - 1);
      expected[i]! += amount;
    } else if (random() < 0.9) {
      sums.subtract(at, bytes, 1, bytes.length - 1);
      expected[i]! -= amount;
    } else {
      sums.addEncoded(at, encodeSigned(-amount));
      expected[i]! -= amount;
    }
    const sum = expected[i]!;
    assert.equal(sums.get(at), sum);
    assert.equal(sums.sign(at), Number(sum > 0n) - Number(sum < 0n));
    assert.deepEqual(Buffer.from(sums.encode(at)), Buffer.from(encodeSigned(sum)));
    if (sum >= 0n) assert.deepEqual(Buffer.from(sums.toBytes(at)), Buffer.from(bigIntToBytes(sum)));
  }
});

/** The first sums get only short amounts, the last ones also amounts longer than any real token has. */
function randomAmount(random: () => number, sum: number): bigint {
  const bytes = Math.floor(random() * (sum < 5 ? 4 + 4 * sum : 33));
  let amount = 0n;
  for (let i = 0; i < bytes; i++) amount = (amount << 8n) | BigInt(Math.floor(random() * 256));
  return amount;
}

test('a reset forgets the sums that had become too long for their words', () => {
  const sums = new WideSums();
  sums.words = new Uint32Array(SUM_WORDS);
  const longest = bigIntToBytes(2n ** 256n - 1n);
  sums.add(0, longest, 0, longest.length);
  assert.equal(sums.get(0), 2n ** 256n - 1n);
  sums.reset();
  assert.equal(sums.get(0), 0n);
});

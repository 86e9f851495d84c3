import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  bigIntToBytes,
  bytesToBigInt,
  bytesToDigits,
  bytesToHex,
  digitsToBigInt,
  hexToBytes,
  quantityToNumber,
  toQuantity,
  writeBigInt,
} from '../../src/lib/hex.ts';
import { decodeSigned, decodeSignedHex, encodeSigned, ZERO_BALANCE } from '../../src/lib/signed.ts';
import { coinToWei, share, weiToCoin, weiToCoin6 } from '../../src/lib/units.ts';

fc.configureGlobal({ seed: 1 }); // the same inputs in every run

const wei = fc.bigInt({ min: 0n, max: (1n << 256n) - 1n });
const balance = fc.bigInt({ min: -(1n << 300n), max: 1n << 300n });

test('bytes, hex and integers convert without loss, in the shortest form', () => {
  fc.assert(
    fc.property(wei, (value) => {
      const bytes = bigIntToBytes(value);
      assert.equal(bytesToBigInt(bytes), value);
      assert.notEqual(bytes[0], 0, 'no leading zero byte');
      const among = new Uint8Array(40).fill(7);
      const end = writeBigInt(among, 1, value);
      assert.deepEqual([...among.subarray(0, end + 1)], [7, bytes.length, ...bytes, 7]);
      assert.equal(bytesToBigInt(among, 2, end), value);
      assert.deepEqual(new Uint8Array(hexToBytes(bytesToHex(bytes))), new Uint8Array(bytes));
      assert.equal(digitsToBigInt(bytesToHex(bytes).slice(2)), value);
      assert.equal(BigInt(toQuantity(value)), value);
    }),
    // Sizes at which the number of bytes grows, and at which small integers no longer fit into words.
    {
      examples: [0n, 64n, 128n].flatMap((bits) => [
        [(1n << bits) - 1n],
        [1n << bits],
        [(1n << bits) + 1n],
        [255n << bits],
      ]),
    },
  );
});

test('text that is not hex is refused', () => {
  for (const text of ['', '0', '0x1', '1234', '0xzz', '0x12 4', '0x1g'])
    assert.throws(() => hexToBytes(text), RangeError, text);
});

test('a quantity is a safe integer or NaN', () => {
  fc.assert(
    fc.property(fc.maxSafeNat(), (value) => assert.equal(quantityToNumber(toQuantity(value)), value)),
  );
  assert.equal(quantityToNumber('0x00AbC'), 0xabc);
  assert.equal(quantityToNumber(`0x${Number.MAX_SAFE_INTEGER.toString(16)}`), Number.MAX_SAFE_INTEGER);
  for (const value of [
    '',
    '0x',
    '1b4',
    '0x1 ',
    ' 0x1',
    '0x1g',
    '0x-1',
    '0X1',
    '0x20000000000000',
    16,
    null,
    undefined,
  ])
    assert.ok(Number.isNaN(quantityToNumber(value)), String(value));
});

test('encoded balances sort like their values, beyond 2^256 and below zero', () => {
  fc.assert(
    fc.property(balance, balance, (a, b) => {
      assert.equal(decodeSigned(encodeSigned(a)), a);
      assert.equal(decodeSignedHex(bytesToDigits(encodeSigned(a)).toUpperCase()), a);
      const order = Buffer.compare(encodeSigned(a), encodeSigned(b));
      assert.equal(order, a < b ? -1 : a > b ? 1 : 0);
    }),
    {
      examples: [
        [0n, -1n],
        [255n, 256n],
        [-255n, -256n],
        [0n, 0n],
      ],
    },
  );
  assert.deepEqual(encodeSigned(0n), ZERO_BALANCE);
});

test('coin amounts are exact without trailing zeros, or truncated to six digits', () => {
  assert.equal(weiToCoin(1_500_000_000_000_000_000n), '1.5');
  assert.equal(weiToCoin(0n), '0');
  assert.equal(weiToCoin(1n), '0.000000000000000001');
  assert.equal(weiToCoin6(1_999_999_999_999_999_999n), '1.999999');
  assert.equal(weiToCoin6(999_999_999_999n), '0.000000');
  fc.assert(fc.property(wei, (value) => assert.equal(coinToWei(weiToCoin(value)), value)));
});

test('a share is cut after its digits, is 1 for the whole alone, and 0 for nothing alone', () => {
  assert.equal(share(2n, 3n), 0.666666666);
  assert.equal(share(2n, 3n, 12), 0.666666666666);
  assert.equal(share(10n ** 77n - 1n, 10n ** 77n), 0.999999999);
  assert.equal(share(10n ** 77n, 10n ** 77n), 1);
  assert.equal(share(1n, 10n ** 9n), 1e-9);
  assert.equal(share(24n, 10n ** 11n), 2.4e-10);
  assert.equal(share(1n, 2n ** 256n - 1n), 2 ** -256);
  assert.equal(share(0n, 5n), 0);
});

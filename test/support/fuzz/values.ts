/** Conversions and packed forms: written values are read back unchanged, and order is kept. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { bigIntToBytes, bytesToBigInt, bytesToHex, hexToBytes } from '../../../src/lib/hex.ts';
import { decodeSigned, encodeSigned } from '../../../src/lib/signed.ts';
import { coinToWei, weiToCoin } from '../../../src/lib/units.ts';
import { isNativeKind, TransferKind } from '../../../src/model/transfer-kind.ts';
import { packBuyers, unpackBuyers } from '../../../src/store/tokens/first-buyers.ts';
import { HistoryCursor, HistoryFlag, maxEntryBytes, writeEntry } from '../../../src/store/wallet-history.ts';
import { type Property, property } from './property.ts';

const entry = fc
  .record({
    distance: fc.oneof(fc.integer({ min: 1, max: 300 }), fc.integer({ min: 1, max: 2 ** 47 })),
    kind: fc.constantFrom(...Object.values(TransferKind)),
    direction: fc.constantFrom(HistoryFlag.in, HistoryFlag.out, HistoryFlag.in | HistoryFlag.out),
    zero: fc.boolean(),
    other: fc.oneof(fc.nat(300), fc.integer({ min: 0, max: 2 ** 33 })),
    wei: fc.oneof(fc.constant(0n), fc.bigInt({ min: 0n, max: 2n ** 256n - 1n })),
  })
  .map((made) => ({ ...made, zero: isNativeKind(made.kind) ? made.wei === 0n : made.zero }));

const activity = property('runs of activity entries', fc.array(entry, { maxLength: 128 }), (entries) => {
  const bytes = new Uint8Array(entries.length * maxEntryBytes(new Uint8Array(32)));
  let end = 0;
  for (const { distance, kind, direction, zero, other, wei } of entries) {
    const flags = kind | direction | (zero ? HistoryFlag.zero : 0);
    const before = end;
    const amount = isNativeKind(kind) ? bigIntToBytes(wei) : null;
    end = writeEntry(bytes, end, distance, flags, other, amount);
    assert.ok(end - before <= maxEntryBytes(amount));
  }
  const cursor = new HistoryCursor().open(bytes.subarray(0, end), 0);
  let transfer = 0;
  for (const { distance, kind, direction, zero, other, wei } of entries) {
    assert.ok(cursor.next());
    transfer += distance;
    assert.equal(cursor.transfer, transfer);
    assert.equal(cursor.flags, kind | direction | (zero ? HistoryFlag.zero : 0));
    assert.equal(cursor.counterparty, other);
    const amount = bytesToBigInt(cursor.bytes.subarray(cursor.amountStart, cursor.amountEnd));
    assert.equal(amount, isNativeKind(kind) ? wei : 0n);
  }
  assert.ok(!cursor.next());
  assert.equal(cursor.offset, end);
});

const garbage = property('bytes that are no run', fc.uint8Array({ maxLength: 200 }), (bytes) => {
  const cursor = new HistoryCursor().open(bytes, 0);
  let steps = 0;
  while (cursor.next()) assert.ok(++steps <= bytes.length, 'it ends');
});

const buyer = fc.record(
  { transfer: fc.integer({ min: 1, max: 2 ** 47 }), wallet: fc.nat(2 ** 33) },
  { noNullPrototype: true },
);

const buyers = property('lists of first buyers', fc.array(buyer), (list) => {
  const ordered = list.toSorted((a, b) => a.transfer - b.transfer);
  assert.deepEqual(unpackBuyers(packBuyers(ordered)), ordered);
});

const noBuyers = property('bytes that are no first buyers', fc.uint8Array({ maxLength: 200 }), (bytes) => {
  const list = unpackBuyers(bytes);
  assert.ok(list.length <= bytes.length / 2);
  for (const { transfer, wallet } of list) assert.ok(Number.isFinite(transfer) && Number.isFinite(wallet));
});

/** Values around powers of two and of 256, where lengths change. */
const integer = fc.oneof(
  fc.bigInt({ min: -(2n ** 300n), max: 2n ** 300n }),
  fc.tuple(fc.nat(1_000), fc.integer({ min: -2, max: 2 }), fc.boolean()).map(([bits, off, negative]) => {
    const value = 2n ** BigInt(bits) + BigInt(off);
    return negative ? -value : value;
  }),
);

const signed = property('pairs of signed integers', fc.tuple(integer, integer), ([a, b]) => {
  assert.equal(decodeSigned(encodeSigned(a)), a);
  const order = Buffer.compare(encodeSigned(a), encodeSigned(b));
  assert.equal(Math.sign(order), a < b ? -1 : a > b ? 1 : 0);
});

const hex = property('bytes as hex and numbers', fc.uint8Array({ maxLength: 64 }), (bytes) => {
  assert.deepEqual(new Uint8Array(hexToBytes(bytesToHex(bytes))), bytes);
  const value = bytesToBigInt(bytes);
  assert.equal(bytesToBigInt(bigIntToBytes(value)), value);
  assert.ok(bigIntToBytes(value)[0] !== 0, 'the shortest form');
});

const text = property('texts taken for hex', fc.string({ unit: 'binary', maxLength: 40 }), (input) => {
  try {
    const digits = input.slice(2);
    assert.equal(bytesToHex(hexToBytes(input)), `0x${digits.toLowerCase()}`);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
});

const coins = property('amounts of coins', fc.bigInt({ min: 0n, max: 2n ** 256n }), (wei) => {
  const shown = weiToCoin(wei);
  assert.match(shown, /^\d+(\.\d{0,17}[1-9])?$/);
  assert.equal(coinToWei(shown), wei);
});

export const VALUES: readonly Property[] = [activity, garbage, buyers, noBuyers, signed, hex, text, coins];

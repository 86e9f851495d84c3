import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  byKindName,
  hasTokenNumber,
  isNativeKind,
  kindBits,
  movesOne,
  NATIVE_KINDS,
  TOKEN_KIND_NAMES,
  TRANSFER_KIND_NAMES,
  TRANSFER_KINDS,
  TransferKind,
} from '../../src/model/transfer-kind.ts';

test('every code has one kind, from 0 without gaps: the index packs it into three bits', () => {
  const codes = TRANSFER_KINDS.map(({ code }) => code).toSorted((a, b) => a - b);
  assert.deepEqual(
    codes,
    Object.values(TransferKind).toSorted((a, b) => a - b),
  );
  assert.deepEqual(
    codes,
    codes.map((_, i) => i),
  );
  assert.ok(codes.length <= 8);
});

test('names are found by code, as stored and published', () => {
  assert.deepEqual(TRANSFER_KIND_NAMES, ['native_direct', 'erc20', 'native_internal', 'erc721', 'erc1155']);
  assert.deepEqual(TOKEN_KIND_NAMES, ['erc20', 'erc721', 'erc1155']);
  assert.deepEqual(NATIVE_KINDS, [TransferKind.nativeDirect, TransferKind.nativeInternal]);
});

test('the questions about a kind answer with its facts, and no to a code that is none', () => {
  for (const kind of TRANSFER_KINDS) {
    assert.equal(isNativeKind(kind.code), kind.isNative, kind.name);
    assert.equal(movesOne(kind.code), kind.movesOne, kind.name);
    assert.equal(hasTokenNumber(kind.code), kind.hasTokenNumber, kind.name);
  }
  for (const none of [5, 7]) assert.ok(!isNativeKind(none) && !movesOne(none) && !hasTokenNumber(none));
  assert.equal(
    kindBits(() => true),
    0b11111,
  );
  assert.deepEqual(byKindName(({ code }) => code).erc1155, 4);
});

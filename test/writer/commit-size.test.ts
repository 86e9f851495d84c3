import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CommitSize, WAL_TARGET_BYTES } from '../../src/writer/commit-size.ts';

const of = (transferCount: number) => [{ transferCount }];

test('commits grow to what is configured while their pages are few', () => {
  const size = new CommitSize(200_000);
  for (let i = 0; i < 10; i++) size.note(of(size.transfers), WAL_TARGET_BYTES / 8);
  assert.equal(size.transfers, 200_000);
});

test('commits shrink until their pages keep the target, also when most transfers touch a page of their own', () => {
  const size = new CommitSize(200_000);
  // Every transfer draws one of so many pages at random, as wallets of a large index do.
  const pages = 40_000;
  const walBytes = (transfers: number) => pages * (1 - Math.exp(-transfers / pages)) * 8_216;
  for (let i = 0; i < 20; i++) size.note(of(size.transfers), walBytes(size.transfers));
  assert.ok(walBytes(size.transfers) < WAL_TARGET_BYTES * 1.05, `${walBytes(size.transfers)} bytes`);
  assert.ok(walBytes(size.transfers) > WAL_TARGET_BYTES * 0.9, `${walBytes(size.transfers)} bytes`);
});

test('neither a small configured size nor blocks without transfers are passed over', () => {
  const size = new CommitSize(300);
  assert.equal(size.transfers, 300);
  size.note(of(0), 8_216);
  assert.ok(size.transfers > 0 && size.transfers <= 300);
  size.note(of(250), 0);
  assert.ok(size.transfers <= 300);
});

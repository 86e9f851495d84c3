import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AdaptiveCommitSize, WAL_TARGET_BYTES } from '../../src/indexer/adaptive-commit-size.ts';

const of = (transferCount: number) => [{ transferCount }];

test('commits grow to what is configured while their pages are few', () => {
  const sizer = new AdaptiveCommitSize(200_000);
  for (let i = 0; i < 10; i++) sizer.adapt(of(sizer.targetTransfers), WAL_TARGET_BYTES / 8);
  assert.equal(sizer.targetTransfers, 200_000);
});

test('commits shrink until their pages keep the target, also when most transfers touch a page of their own', () => {
  const sizer = new AdaptiveCommitSize(200_000);
  // Every transfer draws one of so many pages at random, as wallets of a large index do.
  const pages = 40_000;
  const walBytes = (transfers: number) => pages * (1 - Math.exp(-transfers / pages)) * 8_216;
  for (let i = 0; i < 20; i++) sizer.adapt(of(sizer.targetTransfers), walBytes(sizer.targetTransfers));
  assert.ok(
    walBytes(sizer.targetTransfers) < WAL_TARGET_BYTES * 1.05,
    `${walBytes(sizer.targetTransfers)} bytes`,
  );
  assert.ok(
    walBytes(sizer.targetTransfers) > WAL_TARGET_BYTES * 0.9,
    `${walBytes(sizer.targetTransfers)} bytes`,
  );
});

test('one commit is at most twice as large as the last, however few pages that changed', () => {
  const sizer = new AdaptiveCommitSize(1_000_000);
  sizer.adapt(of(20_000), 8_216);
  assert.equal(sizer.targetTransfers, 40_000);
  sizer.adapt(of(0), 0);
  assert.equal(sizer.targetTransfers, 40_000, 'a WAL of unknown size says nothing');
});

test('neither a small configured size nor blocks without transfers are passed over', () => {
  const sizer = new AdaptiveCommitSize(300);
  assert.equal(sizer.targetTransfers, 300);
  sizer.adapt(of(0), 8_216);
  assert.ok(sizer.targetTransfers > 0 && sizer.targetTransfers <= 300);
  sizer.adapt(of(250), 0);
  assert.ok(sizer.targetTransfers <= 300);
});

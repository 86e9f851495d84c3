import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AdaptiveCommitSize, SHARED_WAL_BYTES, walLimit } from '../../src/indexer/adaptive-commit-size.ts';

const GIB = 2 ** 30;

interface Chain {
  /** WAL bytes, and memory for the changes, of a commit with this many transfers. */
  walBytes(transfers: number): number;
  bytesPerTransfer?: number;
  secondsPerTransfer?: number;
}

/** The commit size after `commits` of them. */
function settle(sizer: AdaptiveCommitSize, chain: Chain, commits = 30): number {
  for (let i = 0; i < commits; i++) {
    const transfers = sizer.targetTransfers;
    sizer.adapt({
      transfers,
      walBytes: chain.walBytes(transfers),
      batchBytes: transfers * 80,
      changesBytes: transfers * ((chain.bytesPerTransfer ?? 300) - 160),
      seconds: transfers * (chain.secondsPerTransfer ?? 1e-9),
    });
  }
  return sizer.targetTransfers;
}

const limits = (changed: { maxTransfers?: number; memoryBytes?: number; wal?: number } = {}) => ({
  maxTransfers: changed.maxTransfers ?? 4_000_000,
  memoryBytes: changed.memoryBytes ?? 64 * GIB,
  walBytes: () => changed.wal ?? 64 * GIB,
});

/** Every transfer draws one of this many pages at random, like wallets of a large index. */
const randomPages = (pages: number) => (transfers: number) =>
  pages * (1 - Math.exp(-transfers / pages)) * 8_216;

test('commits of a young index stay small: their transfers share pages', () => {
  assert.equal(settle(new AdaptiveCommitSize(limits()), { walBytes: (n) => n * 100 }), 50_000);
});

test('commits of a large index grow until their transfers share pages', () => {
  const walBytes = randomPages(100_000);
  const transfers = settle(new AdaptiveCommitSize(limits()), { walBytes });
  assert.ok(transfers > 900_000, `${transfers}`);
  assert.ok(walBytes(transfers) / transfers < SHARED_WAL_BYTES * 1.05);
});

test('memory, the disk, time and the setting each bound a commit', () => {
  const walBytes = randomPages(10_000_000);
  const sized = (changed: Parameters<typeof limits>[0], chain: Partial<Chain> = {}) =>
    settle(new AdaptiveCommitSize(limits(changed)), { walBytes, ...chain });
  const byMemory = sized({ memoryBytes: GIB });
  assert.ok(byMemory * 300 < GIB && byMemory * 300 > GIB / 2, `${byMemory} by memory`);
  const byDenserMemory = sized({ memoryBytes: GIB }, { bytesPerTransfer: 3_000 });
  assert.ok(byDenserMemory * 3_000 < GIB, `${byDenserMemory} where transfers take ten times as much`);
  const byDisk = sized({ wal: GIB });
  assert.ok(walBytes(byDisk) < GIB * 1.05 && walBytes(byDisk) > GIB / 2, `${byDisk} by the disk`);
  const byTime = sized({}, { secondsPerTransfer: 1e-4 });
  assert.ok(byTime * 1e-4 < 95 && byTime * 1e-4 > 60, `${byTime} by time`);
  assert.equal(sized({ maxTransfers: 300 }), 300);
});

test('one commit is at most four times as large as the last, and a WAL of unknown size changes nothing', () => {
  const sizer = new AdaptiveCommitSize(limits());
  const walBytes = randomPages(10_000_000);
  assert.equal(settle(sizer, { walBytes }, 1), 80_000);
  assert.equal(settle(sizer, { walBytes: () => 0 }, 1), 80_000);
});

test('blocks without transfers leave room for some', () => {
  const sizer = new AdaptiveCommitSize(limits({ maxTransfers: 300 }));
  const empty = { transfers: 0, walBytes: 8_216, batchBytes: 500, changesBytes: 0, seconds: 0.001 };
  sizer.adapt(empty);
  assert.ok(sizer.targetTransfers > 0 && sizer.targetTransfers <= 300);
});

test('the WAL takes only a part of the free disk', () => {
  assert.equal(walLimit(4 * GIB), GIB);
  assert.equal(walLimit(1_000 * GIB), 4 * GIB);
  assert.equal(walLimit(0), 64 * 2 ** 20);
});

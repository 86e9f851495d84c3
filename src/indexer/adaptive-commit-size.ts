import type { BlockBatch } from '../model/block-batch.ts';

/**
 * Most bytes of write-ahead log that a commit should produce. Large commits are cheaper per transfer, because a page that
 * several transfers change is written once. But the log must stay below 256 MB, and a commit's changes are in memory. In
 * a young index the number of transfers limits a commit; in a large one, where nearly every wallet is on a different
 * page, these bytes do.
 */
export const WAL_TARGET_BYTES = 192 * 2 ** 20;

/** Size of the first commit. Later ones grow by at most GROWTH. */
const FIRST_TRANSFERS = 20_000;
const GROWTH = 2;
/** Smallest commit, however many random pages it changes. */
const MIN_TRANSFERS = 5_000;

export class AdaptiveCommitSize {
  /** Transfers to aim for in the next commit. */
  targetTransfers: number;
  private readonly maxTransfers: number;

  constructor(maxTransfers: number) {
    this.maxTransfers = maxTransfers;
    this.targetTransfers = Math.min(maxTransfers, FIRST_TRANSFERS);
  }

  /** Adapts to a commit that left `walBytes` bytes in the write-ahead log. */
  adapt(batches: readonly Pick<BlockBatch, 'transferCount'>[], walBytes: number): void {
    if (walBytes === 0) return;
    const transfers = batches.reduce((sum, { transferCount }) => sum + transferCount, 0);
    // Pages shrink more slowly than transfers, so it takes a few commits to reach the target from above.
    const fitting = (transfers * WAL_TARGET_BYTES) / walBytes;
    const grown = GROWTH * Math.max(transfers, MIN_TRANSFERS);
    this.targetTransfers = Math.round(Math.min(this.maxTransfers, grown, Math.max(fitting, MIN_TRANSFERS)));
  }
}

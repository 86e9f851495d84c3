import type { BlockBatch } from '../model/block-batch.ts';

/**
 * Most bytes of write-ahead log that a commit should produce. Large commits are cheaper per transfer, because a page that
 * several transfers change is written once; but the log must stay below 256 MB, and the changes of a commit are held in
 * memory. In a young index the number of transfers limits a commit; in a large one, where nearly every wallet is on a
 * different page, this does.
 */
export const WAL_TARGET_BYTES = 192 * 2 ** 20;

/** Size of the first commit, when little is known about the index. Later ones grow by at most GROWTH. */
const FIRST_TRANSFERS = 20_000;
const GROWTH = 2;
/** Smallest commit, however many random pages it changes. */
const MIN_TRANSFERS = 5_000;

export class AdaptiveCommitSize {
  /** About how many transfers the next commit should have. */
  targetTransfers: number;
  private readonly maxTransfers: number;

  constructor(maxTransfers: number) {
    this.maxTransfers = maxTransfers;
    this.targetTransfers = Math.min(maxTransfers, FIRST_TRANSFERS);
  }

  /** Learns from a commit that left `walBytes` bytes in the write-ahead log. */
  adapt(batches: readonly Pick<BlockBatch, 'transferCount'>[], walBytes: number): void {
    if (walBytes === 0) return;
    const transfers = batches.reduce((sum, { transferCount }) => sum + transferCount, 0);
    // Fewer transfers touch fewer pages, but not in proportion: a few commits approach the target from above.
    const fitting = (transfers * WAL_TARGET_BYTES) / walBytes;
    const grown = GROWTH * Math.max(transfers, MIN_TRANSFERS);
    this.targetTransfers = Math.round(Math.min(this.maxTransfers, grown, Math.max(fitting, MIN_TRANSFERS)));
  }
}

/** How many transfers are committed at once while filling. Pure. */

import type { BlockBatch } from '../types.ts';

/**
 * Bytes of write-ahead log that a commit should make at most. Large commits are cheaper per transfer, for a page that
 * several transfers change is written once; but the log must stay below 256 MB, and what a commit changes is held in
 * memory. In a young index a commit is bounded by its transfers, in a large one, where nearly every wallet is on a
 * page of its own, by this.
 */
export const WAL_TARGET_BYTES = 192 * 2 ** 20;

/** The first commit: little is known of the index then. Later ones grow by GROWTH at most. */
const FIRST_TRANSFERS = 20_000;
const GROWTH = 2;
/** However full of random pages the index is. */
const LEAST_TRANSFERS = 5_000;

export class CommitSize {
  /** Transfers of the next commit, about. */
  transfers: number;
  private readonly most: number;

  constructor(most: number) {
    this.most = most;
    this.transfers = Math.min(most, FIRST_TRANSFERS);
  }

  /** Learns from a commit that left so many bytes in the write-ahead log. */
  note(batches: readonly Pick<BlockBatch, 'transferCount'>[], walBytes: number): void {
    if (walBytes === 0) return;
    const transfers = batches.reduce((sum, { transferCount }) => sum + transferCount, 0);
    // Fewer transfers touch fewer pages, but not as much fewer: the target is approached from above in a few commits.
    const fitting = (transfers * WAL_TARGET_BYTES) / walBytes;
    const grown = GROWTH * Math.max(transfers, LEAST_TRANSFERS);
    this.transfers = Math.round(Math.min(this.most, grown, Math.max(fitting, LEAST_TRANSFERS)));
  }
}

/**
 * Sizes the next commit of a backfill. In a large index, cost follows the number of pages that a commit changes, and
 * nearly every wallet is on its own page: the more transfers share a commit, the fewer pages each transfer writes. So
 * commits grow until their transfers share pages, or until memory, disk or time runs out.
 */

/** The cost of the last commit. */
interface CommitCost {
  transfers: number;
  /** Size of the WAL after the commit, 0 when unknown. */
  walBytes: number;
  /** Memory of the commit's batches and of its changes. */
  batchBytes: number;
  changesBytes: number;
  seconds: number;
}

interface CommitLimits {
  maxTransfers: number;
  /** Covers the batches of a commit, the batches prefetched for the next one, and the changes. */
  memoryBytes: number;
  /** Largest WAL that the disk has room for now, bytes. */
  walBytes(): number;
}

/** Largest WAL, bytes, however much space the disk has: readers look pages up in it. */
export const MAX_WAL_BYTES = 4 * 2 ** 30;
const MIN_WAL_BYTES = 64 * 2 ** 20;

/** The WAL and the pages that a checkpoint moves from it into the file take at most half of the free disk. */
const DISK_PART = 1 / 4;

/** Largest permitted WAL for the current free disk space. */
export function walLimit(freeDiskBytes: number): number {
  return Math.max(MIN_WAL_BYTES, Math.min(MAX_WAL_BYTES, freeDiskBytes * DISK_PART));
}

/** Below this many WAL bytes per transfer, larger commits gain nothing and only take memory. */
export const SHARED_WAL_BYTES = 800;

/** Size of the first commit. Later ones grow by at most GROWTH. */
const FIRST_TRANSFERS = 20_000;
const GROWTH = 4;
/** Commits reach this size even while their transfers share pages. */
const USUAL_TRANSFERS = 50_000;
/** Smallest commit, however many pages it changes. */
const MIN_TRANSFERS = 5_000;

/**
 * Longest commit. A kill loses it. Including the time to gather its blocks, it stays well below the time after which a
 * backfill counts as stalled (server/http/readiness.ts).
 */
const MAX_SECONDS = 90;

/** Fraction of the memory to use, because the next stretch of the chain may be denser than the last. */
const MEMORY_SHARE = 0.8;

export class AdaptiveCommitSize {
  /** Target transfers of the next commit. */
  targetTransfers: number;

  private readonly limits: CommitLimits;

  constructor(limits: CommitLimits) {
    this.limits = limits;
    this.targetTransfers = Math.min(limits.maxTransfers, FIRST_TRANSFERS);
  }

  adapt({ transfers, walBytes, batchBytes, changesBytes, seconds }: CommitCost): void {
    if (walBytes === 0) return;
    const { limits } = this;
    // Fewer transfers touch fewer pages, but not proportionally fewer: a few commits approach a limit from above.
    const memory = (transfers * limits.memoryBytes * MEMORY_SHARE) / (2 * batchBytes + changesBytes);
    const wal = (transfers * limits.walBytes()) / walBytes;
    const time = (transfers * MAX_SECONDS) / seconds;
    const wanted = Math.max(walBytes / SHARED_WAL_BYTES, USUAL_TRANSFERS);
    const grown = GROWTH * Math.max(transfers, MIN_TRANSFERS);
    const fitting = Math.max(MIN_TRANSFERS, Math.min(memory, wal, time));
    this.targetTransfers = Math.round(Math.min(limits.maxTransfers, grown, wanted, fitting));
  }
}

/**
 * How many transfers the next commit of a backfill should have. In a large index cost follows the pages that a commit
 * changes, and nearly every wallet is on a page of its own: the more transfers share a commit, the fewer pages each
 * writes. So commits grow until their transfers share pages, or memory, the disk or time is used up.
 */

/** What the last commit took. */
interface CommitCost {
  transfers: number;
  /** The write-ahead log after it, 0 when unknown. */
  walBytes: number;
  /** The batches of the commit, and its changes. */
  batchBytes: number;
  changesBytes: number;
  seconds: number;
}

interface CommitLimits {
  maxTransfers: number;
  /** For the batches of a commit, those prefetched for the next one, and the changes. */
  memoryBytes: number;
  /** Most bytes of write-ahead log that the disk has room for now. */
  walBytes(): number;
}

/** Most bytes of write-ahead log, whatever room the disk has: readers look pages up in it. */
const MAX_WAL_BYTES = 4 * 2 ** 30;
const MIN_WAL_BYTES = 64 * 2 ** 20;

/** The log and the pages that a checkpoint moves from it into the file take at most half of the free disk. */
const DISK_PART = 1 / 4;

/** The size that the log of an index may reach now. */
export function walLimit(freeDiskBytes: number): number {
  return Math.max(MIN_WAL_BYTES, Math.min(MAX_WAL_BYTES, freeDiskBytes * DISK_PART));
}

/** Below so many bytes of write-ahead log for each transfer, larger commits gain nothing: they only take memory. */
export const SHARED_WAL_BYTES = 800;

/** Size of the first commit. Later ones grow by at most GROWTH. */
const FIRST_TRANSFERS = 20_000;
const GROWTH = 2;
/** Size that commits reach also while their transfers share pages. */
const USUAL_TRANSFERS = 50_000;
/** Smallest commit, however many random pages it changes. */
const MIN_TRANSFERS = 5_000;

/**
 * Longest commit. With the blocks gathered before it, a commit stays well below the 60 s after which a backfill counts as stalled
 * (server/http/readiness.ts), and below the time that systemd gives a daemon to stop.
 */
const MAX_SECONDS = 30;

/** Share of the memory to use: the next stretch of the chain may be denser than the last. */
const MEMORY_SHARE = 0.75;

export class AdaptiveCommitSize {
  /** About how many transfers the next commit should have. */
  targetTransfers: number;

  private readonly limits: CommitLimits;

  constructor(limits: CommitLimits) {
    this.limits = limits;
    this.targetTransfers = Math.min(limits.maxTransfers, FIRST_TRANSFERS);
  }

  /** Learns from a commit. */
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

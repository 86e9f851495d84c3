/** Index stats: what the index file contains, measured in the background. */
import type { TransferKindName } from './transfer-kind.ts';

/** What the index file contains, as of the last measurement (store/index-stats.ts). */
export interface IndexStats {
  /** Unix milliseconds. */
  at: number;
  /** Duration of the measurement. */
  seconds: number;
  /** Head at that time, null for an empty index, and its transfer count. */
  head: number | null;
  transfers: number;
  /** index.db including pages still in its WAL, the WAL itself, and the disk space available to this user. */
  fileBytes: number;
  walBytes: number;
  freeBytes: number;
  /** Bytes of each table with its indexes, largest first. */
  tables: { name: string; bytes: number }[];
  /** Tables too large to measure within the time limit, and the bytes that remain for all of them. */
  unmeasured: { names: string[]; bytes: number } | null;
  /** `estimated`: scaled up from a sample. */
  kinds: { estimated: boolean; transfers: Record<TransferKindName, number> };
  /**
   * By the chain's clock over the last `seconds`: a day, or less if the index covers less; null if it covers too
   * little.
   */
  growth: { transfersPerDay: number; transfersPerBlock: number; seconds: number } | null;
}

export interface IndexStatsState {
  /** Null before the first measurement. */
  latest: IndexStats | null;
  /** Why the last measurement failed, or null. */
  failure: string | null;
}

/** What the index file contains, measured in the background. */
import type { TransferKindName } from './transfer-kind.ts';

/** What the index file contains, as of the last measurement (store/index-stats.ts). */
export interface IndexStats {
  /** Unix milliseconds. */
  at: number;
  /** How long it took. */
  seconds: number;
  /** Last block at the time, null for an empty index, and the transfers up to it. */
  head: number | null;
  transfers: number;
  /** index.db including pages still in its write-ahead log, the log itself, and the free disk space for this user. */
  fileBytes: number;
  walBytes: number;
  freeBytes: number;
  /** Bytes of each table with its indexes, largest first. */
  tables: { name: string; bytes: number }[];
  /** Tables too large to walk within the time limit, and the remaining bytes of the file for all of them. */
  unmeasured: { names: string[]; bytes: number } | null;
  /** `estimated`: scaled up from a sample. */
  kinds: { estimated: boolean; transfers: Record<TransferKindName, number> };
  /** By the chain's clock over the last `seconds`: a day, or what the index covers; null if that is too little. */
  growth: { transfersPerDay: number; transfersPerBlock: number; seconds: number } | null;
}

export interface IndexStatsState {
  /** Null until the first measurement is done. */
  latest: IndexStats | null;
  /** Why the last measurement failed, or null. */
  failure: string | null;
}

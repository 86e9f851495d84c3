/** Counts of the requests since the node's start. */
export interface CallStats {
  calls: number;
  batches: number;
  /** Calls answered with an error. */
  errors: number;
  /** Bytes of all answers. */
  bytes: number;
  byMethod: Record<string, number>;
}

export interface ReplayStats extends CallStats {
  head: number;
  /** First and last block, visible or not; null without blocks. */
  first: number | null;
  last: number | null;
  blocks: number;
  /** Bytes of recorded text in memory, and of the compressed overflow file. */
  memoryBytes: number;
  spilledBytes: number;
}

export function zeroStats(): CallStats {
  return { calls: 0, batches: 0, errors: 0, bytes: 0, byMethod: {} };
}

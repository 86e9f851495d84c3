/** How far an index is behind its node. */
import type { IndexStatus } from '../types.ts';

/** Blocks that the node has and the index lacks, or null while one of the two heads is unknown. */
export function lagBlocks({
  head,
  nodeHead,
  startBlock,
}: Pick<IndexStatus, 'head' | 'nodeHead' | 'startBlock'>): number | null {
  if (nodeHead === null) return null;
  const indexed = head?.number ?? (startBlock === null ? null : startBlock - 1);
  return indexed === null ? null : Math.max(0, nodeHead - indexed);
}

/** Age in seconds of the last indexed block at `now` (Unix milliseconds), or null while the index is empty. */
export function lagSeconds(
  { headTimestamp }: Pick<IndexStatus, 'headTimestamp'>,
  now: number,
): number | null {
  return headTimestamp === null ? null : Math.max(0, now / 1000 - headTimestamp);
}

/** Seconds until the node's head is reached at the current rate, or null when the rate is zero. */
export function etaSeconds(status: IndexStatus): number | null {
  const lag = lagBlocks(status);
  if (lag === 0) return 0;
  return lag === null || status.blocksPerSecond <= 0 ? null : lag / status.blocksPerSecond;
}

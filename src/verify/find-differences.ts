/** Compares a range of blocks with the node's, for a repair. */
import type { LoadRules } from '../indexer/backfill/load-blocks.ts';
import type { Hex } from '../lib/hex.ts';
import type { GapKind } from '../model/block-gap.ts';
import type { RpcClient } from '../node/client.ts';
import { type BlockRange, readGaps } from '../store/block-gaps.ts';
import type { Db } from '../store/open-database.ts';
import { batchParent, blockDifference, loadWithRetry } from './block-comparer.ts';

/** Blocks per read. */
const BLOCKS_PER_READ = 16;

interface CompareOptions {
  client: RpcClient;
  signal: AbortSignal;
  onProgress(text: string): void;
}

/** A block that differs from the node's. */
export interface BlockToReplace {
  block: number;
  text: string;
  /** Parent of the node's block. */
  parent: Hex;
}

interface Differences {
  differing: BlockToReplace[];
  /** Blocks that this node does not show completely either, ascending. */
  incomplete: Record<GapKind, number[]>;
}

export const NOTHING_FOUND: Differences = { differing: [], incomplete: { trace: [], log: [] } };

/** The parts of a range without these blocks, which are ascending. A part may be empty. */
export function rangesWithout(blocks: readonly number[], { first, last }: BlockRange): BlockRange[] {
  const inside = blocks.filter((block) => first <= block && block <= last);
  const starts = [first, ...inside.map((block) => block + 1)];
  return starts.map((from, i) => ({ first: from, last: (inside[i] ?? last + 1) - 1 }));
}

/**
 * The blocks of the range whose hash or transfers differ from the node's. Stops at the first block that lacks internal
 * transfers, because millions of later ones may lack them too, and all of them are reindexed anyway.
 */
export async function findDifferences(
  db: Db,
  rules: LoadRules,
  { first: from, last: to }: BlockRange,
  options: CompareOptions,
): Promise<Differences> {
  const { onProgress } = options;
  const found: Differences = { differing: [], incomplete: { trace: [], log: [] } };
  const untraced = rules.traces === null ? [] : readGaps(db, 'trace');
  for (let at = from; at <= to; at += BLOCKS_PER_READ) {
    onProgress(`comparing block ${at} of ${from} to ${to}`);
    const batch = await loadWithRetry(options, rules, at, Math.min(to, at + BLOCKS_PER_READ - 1));
    for (const { kind, first, last } of batch.gaps)
      for (let block = first; block <= last; block++) found.incomplete[kind].push(block);
    for (let i = 0; i < batch.blockCount; i++) {
      const block = batch.number[i]!;
      const difference = blockDifference(db, batch, i, rules.traces !== null);
      if (difference === null) continue;
      found.differing.push({ block, text: difference.text, parent: batchParent(batch, i) });
      if (untraced.some(({ first, last }) => first <= block && block <= last)) return found;
    }
  }
  return found;
}

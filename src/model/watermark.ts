/** What the indexer thread tells the serving thread: how far the index is committed, never rows. */
import type { Hex } from '../lib/hex.ts';
import type { BlockBatch } from './block-batch.ts';

/** Blocks about to be committed. The serving thread prepares their notifications meanwhile. */
export interface CommittingBlocks {
  /** Consecutive, as decoded. */
  batches: readonly BlockBatch[];
  /** The id that their first transfer will get; ids of the others follow. */
  firstTransfer: number;
}

/** How far the index is committed. */
export type Watermark =
  /** `committedAt`: Unix milliseconds with a fraction. */
  | { kind: 'committed'; from: number; to: number; hash: Hex; timestamp: number; committedAt: number }
  /** `hash` of block `to`; null when the index has no blocks left. */
  | { kind: 'rolled-back'; to: number; hash: Hex | null };

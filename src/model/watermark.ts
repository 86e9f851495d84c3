/** Messages from the indexer thread to the serving thread about what is committed. They never carry stored rows. */
import type { Hex } from '../lib/hex.ts';
import type { BlockBatch } from './block-batch.ts';

/** Blocks about to be committed. Meanwhile the serving thread prepares their notifications. */
export interface CommittingBlocks {
  /** Consecutive batches, as decoded. */
  batches: readonly BlockBatch[];
  /** The id that their first transfer will get; the others follow. */
  firstTransfer: number;
}

/** How far the index is committed. */
export type Watermark =
  /** `committedAt`: Unix milliseconds with a fraction. */
  | { kind: 'committed'; from: number; to: number; hash: Hex; timestamp: number; committedAt: number }
  /** `hash` of block `to`; null when the index has no blocks left. */
  | { kind: 'rolled-back'; to: number; hash: Hex | null };

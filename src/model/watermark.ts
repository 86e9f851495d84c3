/** What the indexer thread announces to the serving thread: how far the index is committed, never rows. */
import type { Hex } from '../lib/hex.ts';
import type { BlockBatch } from './block-batch.ts';

/** Blocks whose commit begins, announced to the serving thread so that what it pushes of them is ready in time. */
export interface CommittingBlocks {
  /** Consecutive, as decoded. */
  batches: readonly BlockBatch[];
  /** The id that their first transfer will get; the others get the following ones. */
  firstTransfer: number;
}

/** The writer's message to the serving thread about committed blocks: never rows, only how far they are committed. */
export type Watermark =
  /** `committedAt` is in Unix milliseconds, with their fractions. */
  | { kind: 'committed'; from: number; to: number; hash: Hex; timestamp: number; committedAt: number }
  /** `hash` is that of block `to`, null when the index has no block left. */
  | { kind: 'rolled-back'; to: number; hash: Hex | null };

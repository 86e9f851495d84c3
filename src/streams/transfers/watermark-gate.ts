/**
 * Decides whether the index may be read. Watermarks say how far the indexer has committed, but the index may already be
 * ahead of the last watermark, or even rolled back. So a turn reads only if its snapshot contains the exact block of
 * the watermark: then ids up to that block mean the same as for the indexer. Otherwise it waits for the next watermark,
 * which explains the difference.
 */
import type { BlockRef } from '../../model/block.ts';
import type { Watermark } from '../../model/block-batch.ts';
import type { LastIds } from '../../query/blocks.ts';
import type { StreamReads } from '../../query/stream-reads.ts';
import { indexRollingBack } from '../subscribe-errors.ts';

/** How long a subscribe waits for a verified snapshot, milliseconds. */
const VERIFY_MS = 10_000;

export class WatermarkGate {
  private readonly reads: StreamReads;
  private readonly onRollback: (kept: LastIds) => void;
  /** The last block of the last watermark; null while the index is empty. */
  private block: BlockRef | null;
  /** The lowest rollback target not yet reported to `onRollback`. */
  private rolledBackTo: number | null = null;
  private readonly waiters = new Set<() => void>();

  /** `verify` calls `onRollback` with the last ids that stay valid, before it returns. */
  constructor(reads: StreamReads, onRollback: (kept: LastIds) => void) {
    this.reads = reads;
    this.onRollback = onRollback;
    this.block = reads.lastBlock();
  }

  /** Number of the last block, 0 while the index is empty. */
  get head(): number {
    return this.block?.number ?? 0;
  }

  /** The last block; null while the index is empty or a rollback is pending. */
  get settled(): BlockRef | null {
    return this.rolledBackTo === null ? this.block : null;
  }

  /** Hash of the last block; undefined while the index is empty or a rollback is pending. */
  get settledHash(): string | undefined {
    return this.settled?.hash;
  }

  apply(mark: Watermark): void {
    this.block = mark.hash === null ? null : { number: mark.to, hash: mark.hash };
    if (mark.kind === 'rolled-back') this.rolledBackTo = Math.min(this.rolledBackTo ?? mark.to, mark.to);
    for (const resume of this.waiters) resume();
    this.waiters.clear();
  }

  /** The last ids at the last watermark; undefined while the snapshot does not contain its block. */
  verify(): LastIds | undefined {
    this.reads.snapshot.head();
    const ends = this.block === null ? { lastTransfer: 0, lastWallet: 0 } : this.reads.lastIdsAt(this.block);
    if (ends !== undefined && this.rolledBackTo !== null) {
      const kept = this.reads.lastIdsUpTo(this.rolledBackTo);
      this.rolledBackTo = null;
      this.onRollback(kept);
    }
    return ends;
  }

  /** Rejects with RequestError when the index does not reach the last watermark in time. */
  async waitUntilVerified(): Promise<LastIds> {
    const deadline = performance.now() + VERIFY_MS;
    for (;;) {
      const ends = this.verify();
      if (ends !== undefined) return ends;
      if (performance.now() > deadline) throw indexRollingBack();
      await this.waitForWatermark(deadline - performance.now());
    }
  }

  private async waitForWatermark(timeoutMs: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.waiters.add(resolve);
    const timer = setTimeout(resolve, timeoutMs).unref();
    await promise;
    clearTimeout(timer);
    this.waiters.delete(resolve);
  }
}

import { UpstreamError } from '../../lib/errors.ts';
import type { BlockBatch } from '../../model/block-batch.ts';

/** Loads blocks `from..to`, inclusive. */
export type LoadRange = (from: number, to: number, signal: AbortSignal) => Promise<BlockBatch>;

interface PipelineOptions {
  /** Most ranges in flight or ready. Together with the range size it bounds memory. */
  depth: number;
  /** Replaces `depth` once ranges are full and batches large, to prefetch a whole batch. */
  maxDepth?: number;
  /** Target transfers per `take`: the size of a backfill commit. */
  batchTransfers: number;
  /** Most blocks of the first range; RANGE_BLOCKS_START unless given. */
  firstRange?: number;
}

/** Target transfers per range: enough for few round trips, few enough to bound the queue. */
const RANGE_TRANSFERS = 1_000;
/** Most blocks per range, and the size of the first ranges of an unknown chain. */
const RANGE_BLOCKS_MAX = 500;
export const RANGE_BLOCKS_START = 16;

/**
 * Longest time to gather a batch, milliseconds, so that even a quiet chain gets regular commits and visible progress.
 */
const GATHER_MS = 6_000;

/** A range that took longer was too large for the node. */
const SLOW_RANGE_MS = 2_000;

interface Range {
  from: number;
  to: number;
  batch: Promise<BlockBatch>;
}

export class Pipeline {
  private readonly load: LoadRange;
  private readonly depth: number;
  private readonly maxDepth: number;
  /** Target transfers of the next `take`. */
  batchTransfers: number;
  private ranges: Range[] = [];
  private blocksPerRange: number;
  /** Whether the last range was about full. */
  private isDense = false;
  private controller = new AbortController();

  constructor(
    load: LoadRange,
    { depth, maxDepth = depth, batchTransfers, firstRange = RANGE_BLOCKS_START }: PipelineOptions,
  ) {
    this.load = load;
    this.depth = depth;
    this.maxDepth = maxDepth;
    this.batchTransfers = batchTransfers;
    this.blocksPerRange = firstRange;
  }

  /**
   * Returns blocks from `next` to at most `head`: at least one range, and more until the batch is full, its time is up,
   * the head is reached or a range fails. A node that fails occasionally therefore only makes commits smaller: a failed
   * range is loaded again for the next call. Rejects like `LoadRange` when the first range fails; then call `reset`.
   */
  async take(next: number, head: number): Promise<BlockBatch[]> {
    if (this.ranges[0] !== undefined && this.ranges[0].from !== next) this.reset();
    const taken: BlockBatch[] = [];
    let transfers = 0;
    let at = next;
    const deadline = performance.now() + GATHER_MS;
    while (
      at <= head &&
      (taken.length === 0 || (transfers < this.batchTransfers && performance.now() < deadline))
    ) {
      this.prefetch(at, head);
      const range = this.ranges[0];
      if (range === undefined) break;
      const askedAt = performance.now();
      const batch = await (taken.length === 0 ? range.batch : this.batchOrRetry(range));
      if (batch === null) break;
      this.ranges.shift();
      this.isDense = batch.transferCount >= RANGE_TRANSFERS / 2;
      this.adaptRangeSize(batch, performance.now() - askedAt);
      taken.push(batch);
      transfers += batch.transferCount;
      at = range.to + 1;
    }
    if (at <= head) this.prefetch(at, head);
    return taken;
  }

  /** Drops all ranges in flight, after a failure or a reorg. */
  reset(): void {
    this.controller.abort();
    this.controller = new AbortController();
    this.ranges = [];
    this.blocksPerRange = Math.max(1, Math.floor(this.blocksPerRange / 2));
  }

  /** Keeps `depth` ranges in flight, from `next` on. */
  private prefetch(next: number, head: number): void {
    let from = (this.ranges.at(-1)?.to ?? next - 1) + 1;
    const depth = this.isDense
      ? Math.min(this.maxDepth, Math.max(this.depth, Math.ceil(this.batchTransfers / RANGE_TRANSFERS)))
      : this.depth;
    while (this.ranges.length < depth && from <= head) {
      const to = Math.min(head, from + this.blocksPerRange - 1);
      this.ranges.push({ from, to, batch: this.start(from, to) });
      from = to + 1;
    }
  }

  private start(from: number, to: number): Promise<BlockBatch> {
    const batch = this.load(from, to, this.controller.signal);
    batch.catch(() => undefined); // `take` handles the rejection; nobody awaits a dropped range
    return batch;
  }

  /**
   * The batch of a range, null if the node failed. Then the range is loaded once more: were it first in the next `take`
   * as it is, all ranges after it would be dropped with it, up to a whole commit.
   */
  private async batchOrRetry(range: Range): Promise<BlockBatch | null> {
    try {
      return await range.batch;
    } catch (error) {
      const isWanted = this.ranges[0] === range; // a reset drops it
      if (isWanted && error instanceof UpstreamError) range.batch = this.start(range.from, range.to);
      return null;
    }
  }

  /**
   * Sizes the next ranges by the transfers per block of this range. A range that kept us waiting beyond SLOW_RANGE_MS
   * was too large for this node: under a low rate limit, even empty blocks take long.
   */
  private adaptRangeSize(batch: BlockBatch, waitedMs: number): void {
    const perBlock = Math.max(1, batch.transferCount) / batch.blockCount;
    const wanted = Math.ceil(RANGE_TRANSFERS / perBlock);
    const most = waitedMs > SLOW_RANGE_MS ? batch.blockCount >> 1 : this.blocksPerRange * 2;
    this.blocksPerRange = Math.max(1, Math.min(RANGE_BLOCKS_MAX, wanted, most));
  }
}

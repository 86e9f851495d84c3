import type { BlockBatch } from '../../model/block-batch.ts';

/** Loads blocks `from..to`, both included. */
export type LoadRange = (from: number, to: number, signal: AbortSignal) => Promise<BlockBatch>;

export interface PipelineOptions {
  /** Most ranges in flight or waiting to be taken. With the size of a range it bounds memory. */
  depth: number;
  /** About how many transfers `take` returns at once: the size of a commit while filling. */
  batchTransfers: number;
}

/** A range aims at this many transfers: large enough for few round trips, small enough to keep the queue in bounds. */
const RANGE_TRANSFERS = 1_000;
/** Most blocks in one range, and their number at first, when nothing is known about the chain. */
const RANGE_BLOCKS_MAX = 500;
const RANGE_BLOCKS_START = 16;

/** Longest time spent gathering a batch: so a quiet chain still gets regular commits, and progress stays visible. */
const GATHER_MS = 2_000;

interface Range {
  from: number;
  to: number;
  batch: Promise<BlockBatch>;
}

export class Pipeline {
  private readonly load: LoadRange;
  private readonly depth: number;
  /** About how many transfers the next `take` returns. */
  batchTransfers: number;
  private ranges: Range[] = [];
  private blocksPerRange = RANGE_BLOCKS_START;
  private controller = new AbortController();

  constructor(load: LoadRange, { depth, batchTransfers }: PipelineOptions) {
    this.load = load;
    this.depth = depth;
    this.batchTransfers = batchTransfers;
  }

  /**
   * The next blocks from `next` on, none beyond `head`: at least one range, and more until the batch is full, its
   * time is up, the head is reached or a range fails: a node that fails now and then costs only smaller commits. Rejects
   * as `LoadRange` does when the first range fails; then call `reset`.
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
      const batch = await (taken.length === 0 ? range.batch : range.batch.catch(() => null));
      if (batch === null) break;
      this.ranges.shift();
      this.adaptRangeSize(batch, performance.now() - askedAt);
      taken.push(batch);
      transfers += batch.transferCount;
      at = range.to + 1;
    }
    if (at <= head) this.prefetch(at, head);
    return taken;
  }

  /** Drops all ranges in flight: after a failure, or when the chain was found to have changed. */
  reset(): void {
    this.controller.abort();
    this.controller = new AbortController();
    this.ranges = [];
    this.blocksPerRange = Math.max(1, Math.floor(this.blocksPerRange / 2));
  }

  /** Keeps `depth` ranges in flight, the first of them beginning at `next`. */
  private prefetch(next: number, head: number): void {
    let from = (this.ranges.at(-1)?.to ?? next - 1) + 1;
    while (this.ranges.length < this.depth && from <= head) {
      const to = Math.min(head, from + this.blocksPerRange - 1);
      const batch = this.load(from, to, this.controller.signal);
      batch.catch(() => undefined); // `take` handles the rejection; a dropped range has no taker
      this.ranges.push({ from, to, batch });
      from = to + 1;
    }
  }

  /**
   * Sizes the next ranges by the transfers per block just seen. A range that had to be waited for longer than a batch is
   * gathered was too large for this node: it may accept few calls a second, and even empty blocks then take long.
   */
  private adaptRangeSize(batch: BlockBatch, waitedMs: number): void {
    const perBlock = Math.max(1, batch.transferCount) / batch.blockCount;
    const wanted = Math.ceil(RANGE_TRANSFERS / perBlock);
    const most = waitedMs > GATHER_MS ? batch.blockCount >> 1 : this.blocksPerRange * 2;
    this.blocksPerRange = Math.max(1, Math.min(RANGE_BLOCKS_MAX, wanted, most));
  }
}

/** Loads ranges of blocks ahead of the index and hands them over in order. */

import { pause } from '../../lib/async.ts';
import { UpstreamError } from '../../lib/errors.ts';
import { settingName } from '../../lib/setting-name.ts';
import type { BlockBatch } from '../../model/block-batch.ts';
import type { UntracedBlocks } from './untraced-blocks.ts';

/**
 * Loads blocks `from..to`, inclusive, in order. A block that the node does not trace is an unsettled batch of its own.
 * The batches may end before `to`, with at least one block.
 */
export type LoadRange = (from: number, to: number, signal: AbortSignal) => Promise<BlockBatch[]>;

/** The next block waits for its traces. What was loaded stays valid. */
export class WaitingForTraces extends UpstreamError {
  override name = 'WaitingForTraces';
}

interface PipelineOptions {
  /** Most ranges in flight or ready. Together with the range size it bounds memory. */
  depth: number;
  /** Replaces `depth` once ranges are full and batches large, to prefetch a whole batch. */
  maxDepth?: number;
  /** Target transfers per `take`: the size of a backfill commit. */
  batchTransfers: number;
  /** Most blocks of the first range; RANGE_BLOCKS_START unless given. */
  firstRange?: number;
  /** Without it, a block that the node does not trace is a gap at once. */
  untraced?: Pick<UntracedBlocks, 'note' | 'settle'>;
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

/** How long `take` waits for the traces of the next block before it says so, milliseconds. */
const SETTLE_WAIT_MS = 2_000;

/** A batch, or a block that is being settled. */
interface RangePart {
  /** Null while the block is not settled. */
  batch: BlockBatch | null;
  to: number;
  /** Resolves when `batch` is set. */
  settled: Promise<void>;
  /** Why it is not settled. */
  reason: string;
}

interface Range {
  /** The first block that was not taken. */
  from: number;
  to: number;
  loaded: Promise<RangePart[]>;
  /** The parts that were not taken; null before they are loaded. */
  parts: RangePart[] | null;
}

export class Pipeline {
  private readonly load: LoadRange;
  private readonly depth: number;
  private readonly maxDepth: number;
  private readonly untraced: PipelineOptions['untraced'];
  /** Target transfers of the next `take`. */
  batchTransfers: number;
  private ranges: Range[] = [];
  private blocksPerRange: number;
  /** Whether the last range was about full. */
  private isDense = false;
  private controller = new AbortController();

  constructor(
    load: LoadRange,
    { depth, maxDepth = depth, batchTransfers, firstRange = RANGE_BLOCKS_START, untraced }: PipelineOptions,
  ) {
    this.untraced = untraced;
    this.load = load;
    this.depth = depth;
    this.maxDepth = maxDepth;
    this.batchTransfers = batchTransfers;
    this.blocksPerRange = firstRange;
  }

  /**
   * Returns blocks from `next` to at most `head`: at least one range, and more until the batch is full, its time is up,
   * the head is reached or a range fails. A node that fails occasionally therefore only makes commits smaller: a failed
   * range is loaded again for the next call. A block that is not settled ends the call like a failed range. Rejects
   * like `LoadRange` when the first range fails; then call `reset`. Rejects with WaitingForTraces when the first block
   * is
   * not settled; then call it again.
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
      const isFirst = taken.length === 0;
      const parts = range.parts ?? (await this.partsOf(range, isFirst));
      const [part] = parts ?? [];
      if (parts === null || part === undefined) break;
      if (part.batch === null && isFirst)
        await Promise.race([part.settled, pause(SETTLE_WAIT_MS, this.controller.signal)]);
      const { batch } = part;
      if (batch === null && isFirst) throw new WaitingForTraces('rpc', waitingText(part));
      if (batch === null || this.ranges[0] !== range) break;
      parts.shift();
      if (parts.length === 0) this.ranges.shift();
      taken.push(batch);
      transfers += batch.transferCount;
      at = range.from = part.to + 1;
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
      this.ranges.push(this.start(from, to));
      from = to + 1;
    }
  }

  private start(from: number, to: number): Range {
    const loaded = this.load(from, to, this.controller.signal).then((batches) => {
      this.untraced?.note(batches);
      return batches.map(this.partOf);
    });
    loaded.catch(() => undefined); // `take` handles the rejection; nobody awaits a dropped range
    return { from, to, loaded, parts: null };
  }

  private readonly partOf = (loaded: BlockBatch): RangePart => {
    const to = loaded.number[loaded.blockCount - 1]!;
    if (loaded.unsettled === null || this.untraced === undefined)
      return { batch: loaded, to, settled: Promise.resolve(), reason: '' };
    const part: RangePart = { batch: null, to, settled: Promise.resolve(), reason: loaded.unsettled.message };
    part.settled = this.untraced.settle(loaded, this.controller.signal).then((batch) => {
      part.batch = batch;
    });
    part.settled.catch(() => undefined); // likewise
    return part;
  };

  /**
   * The parts of a range. Unless it must be there, null if the node failed. Then the range is loaded once more: were it
   * first in the next `take` as it is, all ranges after it would be dropped with it, up to a whole commit.
   */
  private async partsOf(range: Range, isRequired: boolean): Promise<RangePart[] | null> {
    const askedAt = performance.now();
    try {
      range.parts = await range.loaded;
      this.adapt(range.parts, range, performance.now() - askedAt);
      this.loadRest(range);
      return range.parts;
    } catch (error) {
      if (isRequired) throw error;
      const isWanted = this.ranges[0] === range; // a reset drops it
      if (isWanted && error instanceof UpstreamError) this.ranges[0] = this.start(range.from, range.to);
      return null;
    }
  }

  /** Starts what is missing of a range that ended early. What is whole of it can be taken meanwhile. */
  private loadRest(range: Range): void {
    const last = range.parts?.at(-1)?.to ?? range.to;
    if (last >= range.to || this.ranges[0] !== range) return;
    this.ranges.splice(1, 0, this.start(last + 1, range.to));
    range.to = last;
  }

  /**
   * Sizes the next ranges by the transfers per block of this range. A range that kept us waiting beyond SLOW_RANGE_MS
   * was too large for this node: under a low rate limit, even empty blocks take long.
   */
  private adapt(parts: readonly RangePart[], { from, to }: Range, waitedMs: number): void {
    const transfers = parts.reduce((sum, { batch }) => sum + (batch?.transferCount ?? 0), 0);
    const blocks = to - from + 1;
    this.isDense = transfers >= RANGE_TRANSFERS / 2;
    const wanted = Math.ceil(RANGE_TRANSFERS / (Math.max(1, transfers) / blocks));
    const most = waitedMs > SLOW_RANGE_MS ? blocks >> 1 : this.blocksPerRange * 2;
    this.blocksPerRange = Math.max(1, Math.min(RANGE_BLOCKS_MAX, wanted, most));
  }
}

function waitingText({ to, reason }: RangePart): string {
  return (
    `block ${to} has no traces yet: ${reason}; it is tried again, and indexed without its internal ` +
    `transfers after ${settingName('index.gap_after')} if the node traces other blocks; to wait for nothing, ` +
    `use another node or set ${settingName('index.traces')} = false`
  );
}

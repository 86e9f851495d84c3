/** The worker that grows an index by the writer's path alone: no node, no decoding, checkpoints on the same thread. */
import { batchBuffers, releaseBatch } from '../../../src/decode/batch.ts';
import { AdaptiveCommitSize, walLimit } from '../../../src/indexer/adaptive-commit-size.ts';
import { fileBytes, freeDiskBytes } from '../../../src/lib/files.ts';
import type { BlockBatch } from '../../../src/model/block-batch.ts';
import { newTradeRules } from '../../../src/model/trade-rules.ts';
import { Checkpointer } from '../../../src/store/checkpointer.ts';
import { openIndexForReading } from '../../../src/store/index-file.ts';
import { IndexWriter } from '../../../src/store/index-writer.ts';
import { highest } from '../../../src/store/open-database.ts';
import { dropFromPageCache } from '../process/page-cache.ts';
import { ownUsage, peakMegabytes, resetPeakMemory, type Usage } from '../process/resource-usage.ts';
import { growthBatch, TRANSFERS_PER_BLOCK } from '../setup/growth-chain.ts';
import { GROWTH_CHAIN_ID } from '../setup/growth-parties.ts';

export interface GrowthOptions {
  /** The index: created if missing, otherwise continued. */
  path: string;
  cacheMb: number;
  maxTransfers: number;
  memoryMb: number;
  /** Drop the file's pages from the page cache before each commit. */
  cold: boolean;
}

/** The cost of growing by some transfers. */
export interface GrowthPoint {
  cold: boolean;
  transfers: number;
  seconds: number;
  /** Processor time: in the commits, and in the checkpoints after them. */
  commitCpuSeconds: number;
  checkpointCpuSeconds: number;
  commits: number;
  /** Bytes written to the WAL, and bytes read, in the commits. */
  walBytes: number;
  readBytes: number;
  peakMegabytes: number;
  /** Total size of the file at the end. */
  fileBytes: number;
  totalTransfers: number;
  wallets: number;
  holdings: number;
}

/**
 * One commit: its transfers, and what the process had used before it, between it and its checkpoint, and after both.
 */
interface Committed {
  count: number;
  before: Usage;
  between: Usage;
  after: Usage;
}

/** Blocks per batch: about as many transfers as a worker loads at once. */
const BLOCKS_PER_BATCH = 4;

export function growthActions() {
  let growth: Growth | null = null;
  const opened = (): Growth => {
    if (growth === null) throw new Error('no index is open');
    return growth;
  };
  return {
    /** Opens the index. Returns its number of transfers. */
    open(options: GrowthOptions): number {
      growth = new Growth(options);
      return growth.transfers;
    },
    /** Grows the index to `transfers`. */
    growTo: (transfers: number): Promise<GrowthPoint> => opened().growTo(transfers),
    warmUp: (transfers: number): Promise<void> => opened().warmUp(transfers),
    close(): void {
      opened().close();
      growth = null;
    },
  };
}

export class Growth {
  private readonly options: GrowthOptions;
  private readonly writer: IndexWriter;
  private readonly checkpointer: Checkpointer;
  private readonly sizer: AdaptiveCommitSize;
  private nextBlock: number;

  constructor(options: GrowthOptions) {
    this.options = options;
    this.writer = new IndexWriter(options.path, { cacheMb: options.cacheMb });
    if (this.writer.chain() === null) this.writer.setChain(GROWTH_CHAIN_ID, 1);
    const wrappedNative = this.writer.rules()?.wrappedNative ?? [];
    this.writer.setTradeRules(newTradeRules({ chainId: GROWTH_CHAIN_ID, wrappedNative, configured: {} }));
    this.writer.disableAutoCheckpoint();
    this.checkpointer = new Checkpointer(options.path);
    this.sizer = new AdaptiveCommitSize({
      maxTransfers: options.maxTransfers,
      memoryBytes: options.memoryMb * 2 ** 20,
      walBytes: () => walLimit(freeDiskBytes(options.path)),
    });
    this.nextBlock = (this.writer.head()?.number ?? 0) + 1;
  }

  get transfers(): number {
    return (this.nextBlock - 1) * TRANSFERS_PER_BLOCK;
  }

  async growTo(transfers: number): Promise<GrowthPoint> {
    const sums = { transfers: 0, seconds: 0, commitCpuSeconds: 0, checkpointCpuSeconds: 0, commits: 0 };
    const io = { walBytes: 0, readBytes: 0 };
    resetPeakMemory(process.pid);
    while (this.transfers < transfers) {
      const { count, before, between, after } = await this.commit(transfers);
      sums.commits++;
      sums.transfers += count;
      sums.seconds += after.seconds - before.seconds;
      sums.commitCpuSeconds += between.cpu - before.cpu;
      sums.checkpointCpuSeconds += after.cpu - between.cpu;
      io.walBytes += between.written - before.written;
      io.readBytes += between.read - before.read;
    }
    return {
      cold: this.options.cold,
      ...sums,
      ...io,
      peakMegabytes: peakMegabytes(process.pid),
      ...this.contents(),
    };
  }

  /** Makes one commit that no point counts, unless that commit would already reach `transfers`. */
  async warmUp(transfers: number): Promise<void> {
    if (this.transfers + this.sizer.targetTransfers < transfers) await this.commit(transfers);
  }

  close(): void {
    this.checkpointer.close();
    this.writer.close();
  }

  /** One commit and its checkpoint, up to at most `end` transfers. Returns its transfers, and the usage around it. */
  private async commit(end: number): Promise<Committed> {
    const batches = this.nextBatches(Math.min(this.sizer.targetTransfers, end - this.transfers));
    if (this.options.cold) dropFromPageCache(this.options.path);
    const before = ownUsage();
    this.writer.prepare(batches);
    const walBytes = this.writer.append(batches);
    const between = ownUsage();
    await this.checkpointer.checkpointWal();
    const after = ownUsage();
    const count = batches.reduce((sum, { transferCount }) => sum + transferCount, 0);
    const bytes = batches.flatMap(batchBuffers).reduce((sum, { byteLength }) => sum + byteLength, 0);
    this.sizer.adapt({
      transfers: count,
      walBytes,
      batchBytes: bytes,
      changesBytes: this.writer.changesBytes,
      // On a shared machine, the wall clock would make commits smaller than on an idle one.
      seconds: this.options.cold ? between.seconds - before.seconds : between.cpu - before.cpu,
    });
    for (const batch of batches) releaseBatch(batch);
    return { count, before, between, after };
  }

  private nextBatches(transfers: number): BlockBatch[] {
    const batches: BlockBatch[] = [];
    const blocks = Math.ceil(transfers / TRANSFERS_PER_BLOCK);
    for (let left = blocks; left > 0; left -= BLOCKS_PER_BATCH) {
      const count = Math.min(left, BLOCKS_PER_BATCH);
      batches.push(growthBatch(this.nextBlock, count));
      this.nextBlock += count;
    }
    return batches;
  }

  private contents(): Pick<GrowthPoint, 'fileBytes' | 'totalTransfers' | 'wallets' | 'holdings'> {
    const db = openIndexForReading(this.options.path);
    try {
      const holdings = db.prepare<[], number>('SELECT sum(wallets) FROM tokens').pluck().get() ?? 0;
      return {
        fileBytes: fileBytes(this.options.path),
        totalTransfers: highest(db, 'transfers'),
        wallets: highest(db, 'wallets'),
        holdings,
      };
    } finally {
      db.close();
    }
  }
}

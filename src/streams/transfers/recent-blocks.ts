/**
 * Keeps the newest announced and the newest reverted blocks in memory. A client that was disconnected during a reorg
 * needs the reverted blocks, which the index has deleted.
 */
import type { RemovedBlock } from '../../follower/removed-blocks.ts';
import { bytesToDigits } from '../../lib/hex.ts';
import { type BlockBatch, type CommittingBlocks, packedHash } from '../../model/block-batch.ts';

/** Most announced blocks, and most reverted ones. No deeper reorg is reported to clients (MAX_REORG_DEPTH). */
const MAX_BLOCKS = 256;
/** Bytes of batches that each of the two stores may keep. */
const MAX_BYTES = 8 * 2 ** 20;

/** A block of an announced batch. Its hashes are hex digits. */
export interface RecentBlock extends RemovedBlock {
  batch: BlockBatch;
  /** The id of the batch's first transfer, also after a rollback. */
  firstId: number;
  /** Range of the block's transfers in the batch: `from <= i < end`. */
  from: number;
  end: number;
}

export class RecentBlocks {
  private readonly committed = new BlockStore();
  private readonly withdrawn = new BlockStore();
  /** Announced but not yet committed. */
  private announced: CommittingBlocks | null = null;

  announce(blocks: CommittingBlocks): void {
    this.announced = blocks;
  }

  /** Keeps the announced blocks if the commit that ended with `head` contained them. */
  commit(head: string): void {
    const blocks = this.announced === null ? [] : blocksOf(this.announced);
    this.announced = null;
    if (blocks.at(-1)?.hash !== head) return;
    for (const block of blocks) {
      this.committed.add(block);
      this.withdrawn.delete(block.hash); // back on the chain
    }
  }

  rollBack(to: number): void {
    this.announced = null;
    for (const block of this.committed.takeAbove(to)) this.withdrawn.add(block);
  }

  /** A reverted block by its hash. */
  readonly removed = (hash: string): RecentBlock | undefined => this.withdrawn.get(hash);
}

/** Blocks by hash. Drops the oldest. */
class BlockStore {
  private readonly blocks = new Map<string, RecentBlock>();
  private bytes = 0;

  get(hash: string): RecentBlock | undefined {
    return this.blocks.get(hash);
  }

  add(block: RecentBlock): void {
    this.delete(block.hash);
    this.blocks.set(block.hash, block);
    this.bytes += sizeOf(block);
    for (const hash of this.blocks.keys()) {
      if (this.blocks.size <= MAX_BLOCKS && this.bytes <= MAX_BYTES) return;
      this.delete(hash);
    }
  }

  delete(hash: string): void {
    const block = this.blocks.get(hash);
    if (block === undefined) return;
    this.blocks.delete(hash);
    this.bytes -= sizeOf(block);
  }

  /** Removes and returns the blocks above a height, lowest first. */
  takeAbove(to: number): RecentBlock[] {
    const above = [...this.blocks.values()].filter(({ number }) => number > to);
    for (const { hash } of above) this.delete(hash);
    return above.sort((a, b) => a.number - b.number);
  }
}

/** Size of the block's batch, counted for each of its blocks: near the head a batch is one block. */
function sizeOf({ batch }: RecentBlock): number {
  return batch.transferCount * BYTES_PER_TRANSFER;
}

/** The columns of a transfer with its addresses and its transaction. */
const BYTES_PER_TRANSFER = 160;

function blocksOf({ batches, firstTransfer }: CommittingBlocks): RecentBlock[] {
  let firstId = firstTransfer;
  return batches.flatMap((batch) => {
    const id = firstId;
    firstId += batch.transferCount;
    return Array.from({ length: batch.blockCount }, (_, i) => ({
      number: batch.number[i]!,
      hash: bytesToDigits(packedHash(batch.hash, i)),
      parent: bytesToDigits(packedHash(batch.parent, i)),
      batch,
      firstId: id,
      from: i === 0 ? 0 : batch.transferEnd[i - 1]!,
      end: batch.transferEnd[i]!,
    }));
  });
}

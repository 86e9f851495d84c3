import type { StoredBlock } from './block.ts';

/** The canonical chain and its head. Blocks above the head are known but not yet visible. */
export class ReplayChain {
  /** By number ascending; recorded chains may have gaps. */
  private readonly blocks: StoredBlock[];
  private readonly indexOfNumber = new Map<number, number>();
  private readonly numberOfHash = new Map<string, number>();
  /** Index of the head; -1 without blocks. */
  headIndex: number;
  /** Called after blocks were replaced. */
  onReplaced: (old: readonly StoredBlock[], current: readonly StoredBlock[]) => void = () => undefined;

  constructor(blocks: StoredBlock[]) {
    this.blocks = blocks;
    this.headIndex = blocks.length - 1;
    blocks.forEach((block, index) => {
      this.indexBlock(block, index);
    });
  }

  get length(): number {
    return this.blocks.length;
  }

  /** Number of the head, 0 without blocks. */
  get head(): number {
    return this.blocks[this.headIndex]?.number ?? 0;
  }

  /** The block at an index, visible or not. */
  at(index: number): StoredBlock | undefined {
    return this.blocks[index];
  }

  /** Index of a number, visible or not. */
  indexOf(number: number): number | undefined {
    return this.indexOfNumber.get(number);
  }

  /** Index of the last block at or below a number, -1 when all are above. */
  indexAtOrBelow(number: number): number {
    return this.blocks.findLastIndex((block) => block.number <= number);
  }

  /** The visible block of a number. */
  byNumber(number: number): StoredBlock | null {
    const index = this.indexOfNumber.get(number);
    return index === undefined || index > this.headIndex ? null : this.blocks[index]!;
  }

  /** The visible canonical block with a hash in any case. Replaced blocks are gone. */
  byHash(hash: string): StoredBlock | null {
    const number = this.numberOfHash.get(hash.toLowerCase());
    return number === undefined ? null : this.byNumber(number);
  }

  /** Every block from an index on, visible or not. */
  from(index: number): StoredBlock[] {
    return this.blocks.slice(index);
  }

  /** Replaces one block. */
  replaceAt(index: number, block: StoredBlock): void {
    this.splice(index, 1, [block]);
  }

  /** Replaces all blocks from an index on. If there are fewer new ones, the head must be moved into range. */
  replaceFrom(index: number, blocks: readonly StoredBlock[]): void {
    this.splice(index, this.blocks.length - index, blocks);
  }

  private splice(index: number, count: number, blocks: readonly StoredBlock[]): void {
    const old = this.blocks.splice(index, count, ...blocks);
    for (const block of old) {
      this.indexOfNumber.delete(block.number);
      this.numberOfHash.delete(block.hash);
    }
    blocks.forEach((block, i) => {
      this.indexBlock(block, index + i);
    });
    this.onReplaced(old, blocks);
  }

  private indexBlock(block: StoredBlock, index: number): void {
    this.indexOfNumber.set(block.number, index);
    this.numberOfHash.set(block.hash, block.number);
  }
}

import { readBlock, type StoredBlock, storeBlock } from '../blocks/block.ts';
import type { ReplayChain } from '../blocks/chain.ts';
import type { TextStore } from '../text-store.ts';
import { siblingBlock } from './sibling-branch.ts';

/**
 * Regular reorgs for long runs: the last `depth` blocks up to each multiple of `every` are first served as siblings
 * with other hashes. When the chain moves past the multiple, the recorded blocks replace them.
 */
export class ReorgPattern {
  private readonly chain: ReplayChain;
  private readonly store: TextStore;
  private readonly every: number;
  private readonly depth: number;
  /** Recorded blocks whose siblings are served, by index ascending. */
  private readonly withheld = new Map<number, StoredBlock>();
  /** The multiple that the head is approaching. */
  private multiple: number | null = null;

  constructor(chain: ReplayChain, store: TextStore, every: number, depth: number) {
    this.chain = chain;
    this.store = store;
    this.every = every;
    this.depth = depth;
  }

  /** Prepares the block that is about to become the head. Returns the restored recorded blocks, in order. */
  prepareHead(index: number): StoredBlock[] {
    const { number } = this.chain.at(index)!;
    const multiple = Math.ceil(number / this.every) * this.every;
    const restored = multiple === this.multiple ? [] : this.restore();
    this.multiple = multiple;
    const replaced = number > multiple - this.depth && this.chain.indexOf(multiple) !== undefined;
    if (replaced && !this.withheld.has(index)) this.withhold(index);
    return restored;
  }

  private withhold(index: number): void {
    const recorded = this.chain.at(index)!;
    const parentHash = this.withheld.has(index - 1) ? this.chain.at(index - 1)!.hash : null;
    const sibling = siblingBlock(readBlock(this.store, recorded), parentHash);
    this.chain.replaceAt(index, storeBlock(this.store, sibling));
    this.withheld.set(index, recorded);
  }

  private restore(): StoredBlock[] {
    const restored = [...this.withheld.values()];
    for (const [index, recorded] of this.withheld) this.chain.replaceAt(index, recorded);
    this.withheld.clear();
    return restored;
  }
}

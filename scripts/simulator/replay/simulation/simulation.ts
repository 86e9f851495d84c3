import { type ChainBlock, readBlock, storeBlock } from '../blocks/block.ts';
import type { ReplayChain } from '../blocks/chain.ts';
import type { Feed } from '../server/feed.ts';
import type { TextStore } from '../text-store.ts';
import { withParent } from './rechain.ts';
import { ReorgPattern } from './reorg-pattern.ts';
import { siblingBranch } from './sibling-branch.ts';

export interface ForkOptions {
  /** Head after the fork. Default: the same height, or the last new block when the branch is shorter. */
  head?: number;
}

interface SimulationDeps {
  chain: ReplayChain;
  store: TextStore;
  feed: Feed;
}

/** Moves the head, replaces branches, and announces the changes. */
export class Simulation {
  private readonly deps: SimulationDeps;
  private readonly pattern: ReorgPattern | null;

  /** With `reorgEvery` above zero, applies the fork pattern to the blocks around the head at once. */
  constructor(deps: SimulationDeps, reorgEvery: number, reorgDepth: number) {
    const { chain, store } = deps;
    this.deps = deps;
    this.pattern = reorgEvery > 0 ? new ReorgPattern(chain, store, reorgEvery, reorgDepth) : null;
    const first = Math.max(0, chain.headIndex - reorgDepth);
    for (let index = first; this.pattern && index <= chain.headIndex; index++)
      this.pattern.prepareHead(index);
  }

  /**
   * Makes the last block at or below a number the head, announcing every block on the way forward. Returns the head.
   */
  setHead(number: number): number {
    return this.moveHead(this.deps.chain.indexAtOrBelow(number));
  }

  /** Advances the head by `count` blocks, at most to the last one. Returns the head. */
  mine(count: number): number {
    return this.moveHead(this.deps.chain.headIndex + count);
  }

  /**
   * Replaces every block from a number on and announces the new blocks up to the head. Without `newBlocks` the new
   * blocks are siblings of the old ones, each without its last transaction. Given blocks start at that number; the
   * first is linked to the block below, the others must already be linked. Returns the replaced blocks; passed to
   * `fork`, they restore the old branch. If `from` is one above the last block, blocks are added.
   */
  fork(from: number, newBlocks?: Iterable<ChainBlock>, options: ForkOptions = {}): ChainBlock[] {
    const { chain, store, feed } = this.deps;
    if (this.pattern) throw new Error('fork() cannot be used on a node that forks by itself (reorgEvery)');
    const index = this.forkIndex(from);
    const parentHash = chain.at(index - 1)?.hash ?? null;
    const replaced = chain.from(index).map((block) => readBlock(store, block));
    const branch = newBlocks ? linked([...newBlocks], parentHash) : siblingBranch(replaced, parentHash);
    checkNumbers(branch, from);

    const head = options.head ?? chain.head;
    chain.replaceFrom(
      index,
      branch.map((block) => storeBlock(store, block)),
    );
    chain.headIndex = Math.max(0, chain.indexAtOrBelow(head));
    for (let i = index; i <= chain.headIndex; i++) feed.announce(chain.at(i)!);
    return replaced;
  }

  private forkIndex(from: number): number {
    const { chain } = this.deps;
    const index = chain.indexOf(from);
    if (index !== undefined) return index;
    if (from === (chain.at(chain.length - 1)?.number ?? from - 1) + 1) return chain.length;
    throw new RangeError(`cannot fork at block ${from}: the chain has no such block`);
  }

  private moveHead(wanted: number): number {
    const { chain, feed } = this.deps;
    const target = Math.max(0, Math.min(chain.length - 1, wanted));
    if (target < chain.headIndex) {
      chain.headIndex = target;
      feed.announce(chain.at(target)!);
    }
    while (chain.headIndex < target) this.advance();
    return chain.head;
  }

  private advance(): void {
    const { chain, feed } = this.deps;
    const next = chain.headIndex + 1;
    const restored = this.pattern?.prepareHead(next) ?? [];
    chain.headIndex = next;
    for (const block of [...restored, chain.at(next)!]) feed.announce(block);
  }
}

function linked(blocks: ChainBlock[], parentHash: string | null): ChainBlock[] {
  const [first, ...rest] = blocks;
  if (!first || parentHash === null) return blocks;
  return [{ ...first, block: withParent(first.block.toString(), parentHash) }, ...rest];
}

function checkNumbers(blocks: readonly ChainBlock[], from: number): void {
  if (blocks.length === 0) throw new RangeError(`cannot fork at block ${from} without blocks to put there`);
  let previous = from - 1;
  for (const { number } of blocks) {
    const fits = previous < from ? number === from : number > previous;
    if (!fits)
      throw new RangeError(`the branch at block ${from} has block ${number} after block ${previous}`);
    previous = number;
  }
}

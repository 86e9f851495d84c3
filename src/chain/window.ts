/**
 * The newest blocks of the node's chain, each the parent of the next, and how a new head relates to them. Pure state:
 * its users fetch headers and report what they learn.
 */

import { findForkPoint } from '../lib/fork-point.ts';
import type { BlockRef } from '../model/block.ts';
import type { BlockHeader } from '../node/methods.ts';

type WindowState =
  | 'empty'
  /** The node's last head was at or above the oldest known block. */
  | 'following'
  /** The node's heads are below all known blocks and may catch up. */
  | 'behind'
  /** The chain was set back below all known blocks. */
  | 'set back';

/** How a head of the node relates to the known blocks. */
type HeadPosition =
  | 'first'
  | 'known'
  /** Unknown, and at or above the oldest known block: extends the chain or belongs to another branch. */
  | 'new'
  | 'behind'
  | 'set back';

export class ChainWindow<B extends BlockRef> {
  private readonly capacity: number;
  private blocks: B[] = [];
  private state: WindowState = 'empty';
  /** Lowest rollback of the index since the state was last `following`. */
  private rolledBackTo = Number.POSITIVE_INFINITY;

  /** `capacity` is the maximum number of blocks. */
  constructor(capacity: number) {
    this.capacity = capacity;
  }

  get tip(): B | undefined {
    return this.blocks.at(-1);
  }

  get isEmpty(): boolean {
    return this.state === 'empty';
  }

  /** Height of the oldest known block; 0 without blocks. */
  get oldestNumber(): number {
    return this.blocks[0]?.number ?? 0;
  }

  /** The hash of the block at a height, if known. */
  hashAt(number: number): string | undefined {
    return this.blocks[number - this.oldestNumber]?.hash;
  }

  /** The known blocks from a height up, oldest first. */
  blocksFrom(number: number): B[] {
    return this.blocks.slice(Math.max(0, number - this.oldestNumber));
  }

  /**
   * Whether a head is a known block or below all known blocks. A node that is set back to such a block does not
   * announce it.
   */
  isKnownOrBelow({ number, hash }: BlockRef): boolean {
    return number < this.oldestNumber || this.hashAt(number) === hash;
  }

  /** Records a head of the node and returns how it relates to the known blocks. */
  locate(head: BlockRef): HeadPosition {
    if (this.state === 'empty') return 'first';
    if (head.number < this.oldestNumber) {
      this.state = this.stateBelow();
      return this.state;
    }
    this.state = 'following';
    this.rolledBackTo = Number.POSITIVE_INFINITY;
    return this.hashAt(head.number) === head.hash ? 'known' : 'new';
  }

  /** The index was rolled back: the blocks above `to` are no longer on the node's chain. */
  noteRollback(to: number): void {
    this.rolledBackTo = Math.min(this.rolledBackTo, to);
  }

  /**
   * The newest known block on the chain of a new head, or the number before the known blocks if there is none. `hashOf`
   * returns the node's hash at a height.
   */
  findForkPoint(head: BlockHeader, hashOf: (number: number) => Promise<string>): Promise<number> {
    const parent = head.number - 1;
    return findForkPoint(
      Math.min(parent, this.tip?.number ?? parent),
      this.oldestNumber,
      async (number) => this.hashAt(number) === (number === parent ? head.parentHash : await hashOf(number)),
    );
  }

  /** Removes the blocks from a height up and returns them, oldest first. */
  removeFrom(number: number): B[] {
    return this.blocks.splice(Math.max(0, number - this.oldestNumber));
  }

  /** Adds the child of the newest block. */
  push(block: B): void {
    this.blocks.push(block);
    if (this.blocks.length > this.capacity) this.blocks.shift();
  }

  /**
   * Starts over with other blocks, each the parent of the next. A rollback that happened while these were fetched still
   * counts.
   */
  restart(blocks: readonly B[]): void {
    this.blocks = [...blocks];
    this.state = 'following';
  }

  /**
   * A head's height alone proves nothing, because the node may lag. The index knows whether the blocks are gone, and a
   * lagging node catches up.
   */
  private stateBelow(): 'behind' | 'set back' {
    if (this.state !== 'set back' && this.rolledBackTo >= this.oldestNumber) return 'behind';
    this.rolledBackTo = Number.POSITIVE_INFINITY;
    return 'set back';
  }
}

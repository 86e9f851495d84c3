/**
 * The newest blocks of the node's chain, each the parent of the next, and what a head of the node means for them. Pure
 * state: its users fetch headers and report what they learn.
 */
import type { BlockRef } from '../model/block.ts';
import type { BlockHeader } from '../node/block-header.ts';
import { findForkPoint } from '../node/fork-point.ts';

/** The node's heads are below all known blocks, since this time in milliseconds. */
interface Behind {
  kind: 'behind';
  since: number;
}

/** The chain was set back below all known blocks. */
interface SetBack {
  kind: 'set back';
}

type State =
  | { kind: 'empty' }
  /** The node's last head was at or above the oldest known block. */
  | { kind: 'following' }
  | Behind
  | SetBack;

/** How a head of the node relates to the known blocks. */
export type HeadPosition =
  | 'first'
  | 'known'
  /** Not known, and at or above the oldest known block: extends the chain or belongs to another branch. */
  | 'new'
  | 'behind'
  | 'set back';

export interface ChainWindowOptions {
  /** Most blocks that are kept. */
  capacity: number;
  /** How long heads must stay below all known blocks before the chain counts as set back, milliseconds. */
  setBackMs: number;
}

export class ChainWindow<B extends BlockRef> {
  private readonly options: ChainWindowOptions;
  private blocks: B[] = [];
  private state: State = { kind: 'empty' };
  /** Lowest block to which the index was rolled back since the state was last `following`. */
  private rolledBackTo = Number.POSITIVE_INFINITY;

  constructor(options: ChainWindowOptions) {
    this.options = options;
  }

  get tip(): B | undefined {
    return this.blocks.at(-1);
  }

  get isEmpty(): boolean {
    return this.state.kind === 'empty';
  }

  /** Height of the oldest known block; 0 while none is known. */
  get oldestNumber(): number {
    return this.blocks[0]?.number ?? 0;
  }

  /** The hash of the block at a height, if it is known. */
  hashAt(number: number): string | undefined {
    return this.blocks[number - this.oldestNumber]?.hash;
  }

  /** The known blocks from a height on, oldest first. */
  blocksFrom(number: number): B[] {
    return this.blocks.slice(Math.max(0, number - this.oldestNumber));
  }

  /** Whether a head is a known block or below all of them. A node that is set back to such a block does not announce it. */
  isKnownOrBelow({ number, hash }: BlockRef): boolean {
    return number < this.oldestNumber || this.hashAt(number) === hash;
  }

  /** Takes a head of the node at a time in milliseconds, and tells what it means for the known blocks. */
  locate(head: BlockRef, now: number): HeadPosition {
    if (this.state.kind === 'empty') return 'first';
    if (head.number < this.oldestNumber) {
      const below = this.stateBelow(now);
      this.state = below;
      return below.kind;
    }
    this.state = { kind: 'following' };
    this.rolledBackTo = Number.POSITIVE_INFINITY;
    return this.hashAt(head.number) === head.hash ? 'known' : 'new';
  }

  /** The index was rolled back: the blocks above `to` are no longer on the node's chain. */
  noteRollback(to: number): void {
    this.rolledBackTo = Math.min(this.rolledBackTo, to);
  }

  /**
   * The newest known block on the chain of a new head, or the one before the known blocks when there is none.
   * `hashOf` gives the node's hash at a height.
   */
  findForkPoint(head: BlockHeader, hashOf: (number: number) => Promise<string>): Promise<number> {
    const parent = head.number - 1;
    return findForkPoint(
      Math.min(parent, this.tip?.number ?? parent),
      this.oldestNumber,
      (number) => this.hashAt(number),
      async (number) => (number === parent ? head.parentHash : hashOf(number)),
    );
  }

  /** Removes the blocks from a height on and returns them, oldest first. */
  removeFrom(number: number): B[] {
    return this.blocks.splice(Math.max(0, number - this.oldestNumber));
  }

  /** Adds the child of the newest block. */
  push(block: B): void {
    this.blocks.push(block);
    if (this.blocks.length > this.options.capacity) this.blocks.shift();
  }

  /** Starts over with other blocks, each the parent of the next. A rollback noted while these were fetched still counts. */
  restart(blocks: readonly B[]): void {
    this.blocks = [...blocks];
    this.state = { kind: 'following' };
  }

  clear(): void {
    this.blocks = [];
    this.state = { kind: 'empty' };
    this.rolledBackTo = Number.POSITIVE_INFINITY;
  }

  /**
   * A head's height alone proves nothing: the node may lag. The index knows whether the blocks are gone, and a node
   * that lags catches up.
   */
  private stateBelow(now: number): Behind | SetBack {
    if (this.state.kind === 'set back') return this.state;
    const since = this.state.kind === 'behind' ? this.state.since : now;
    const isSetBack = this.rolledBackTo < this.oldestNumber || now - since >= this.options.setBackMs;
    if (!isSetBack) return { kind: 'behind', since };
    this.rolledBackTo = Number.POSITIVE_INFINITY;
    return { kind: 'set back' };
  }
}

/** The ordered changes of the node's chain, for readers that come back for them: the filters that clients poll. */
import type { BlockRef } from '../model/block.ts';

/** One change of the chain: a block that was added or orphaned. */
export interface ChainChange extends BlockRef {
  added: boolean;
}

/** Most changes kept. A filter may go five minutes without a poll: a thousand blocks on the fastest chain. */
const MAX_CHANGES = 8_192;

export class ChainJournal {
  private changes: ChainChange[] = [];
  private changeCount = 0;

  /** Number of changes so far. */
  get position(): number {
    return this.changeCount;
  }

  /** Changes after the first `position`, in order; null when some were dropped. */
  since(position: number): readonly ChainChange[] | null {
    const first = this.changeCount - this.changes.length;
    return position < first ? null : this.changes.slice(position - first);
  }

  record({ number, hash }: BlockRef, added: boolean): void {
    this.changeCount++;
    this.changes.push({ added, number, hash });
    // Trimmed in steps, because moving the whole list for each block would cost more than keeping twice as many.
    if (this.changes.length >= 2 * MAX_CHANGES) this.changes.splice(0, this.changes.length - MAX_CHANGES);
  }

  /** The chain continues from blocks that no change leads to. Every earlier position becomes invalid. */
  restart(): void {
    this.changes = [];
    this.changeCount++;
  }
}

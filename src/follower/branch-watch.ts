/** Notices when ids read before may belong to other rows: the index is on another branch, or was rewritten. */
import type { KnownBlock } from './outcome.ts';

/** The last block of a commit. */
interface MarkedHead extends KnownBlock {
  /** The mark of the index (model/rewrites.ts). */
  mark: string;
}

export class BranchWatch {
  private readonly hashAt: (block: number) => string | null | undefined;
  /** The last block at the time of the last call. */
  private seen: MarkedHead | null = null;

  /** `hashAt` reads the commit that is being read; any part of the hash will do. */
  constructor(hashAt: (block: number) => string | null | undefined) {
    this.hashAt = hashAt;
  }

  /**
   * Whether the index has lost the block that was its last one at the previous call, or was rewritten since. `head` is
   * the last one now.
   */
  isChanged(head: MarkedHead | null): boolean {
    const { seen } = this;
    this.seen = head;
    if (seen === null) return false;
    if (head?.mark !== seen.mark) return true;
    const hash = head?.number === seen.number ? head.hash : this.hashAt(seen.number);
    return hash !== seen.hash;
  }
}

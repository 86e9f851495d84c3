/** Notices when the index has changed to another branch. Then ids read before may belong to other rows. */
import type { KnownBlock } from './outcome.ts';

export class BranchWatch {
  private readonly hashAt: (block: number) => string | null | undefined;
  /** The last block at the time of the last call. */
  private seen: KnownBlock | null = null;

  /** `hashAt` reads the commit that is being read; any part of the hash will do. */
  constructor(hashAt: (block: number) => string | null | undefined) {
    this.hashAt = hashAt;
  }

  /** Whether the index has lost the block that was its last one at the previous call. `head` is the last one now. */
  isChanged(head: KnownBlock | null): boolean {
    const { seen } = this;
    this.seen = head;
    if (seen === null) return false;
    const hash = head?.number === seen.number ? head.hash : this.hashAt(seen.number);
    return hash !== seen.hash;
  }
}

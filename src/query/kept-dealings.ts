/**
 * A cache of the dealings of recently requested wallets with many transfers. As the chain grows only their new transfers
 * are read; after a reorg they are summed anew.
 */
import { lastBlock } from '../store/chain.ts';
import type { Db } from '../store/open.ts';
import type { BlockRef } from '../types.ts';
import { commitEnds } from './commits.ts';
import type { Dealings } from './dealings.ts';

/** Most memory for all of them: enough for the three hottest wallets of ten million transfers. */
const MAX_BYTES = 64 * 2 ** 20;

interface Kept {
  dealings: Dealings;
  /** They contain every transfer up to and including this block, and no later one. */
  tip: BlockRef;
}

/** The dealings of a wallet so far, and the first transfer not yet added. */
export interface Begun {
  dealings: Dealings;
  from: number;
}

export class KeptDealings {
  private readonly lastBlock: () => BlockRef | null;
  private readonly endsOf: ReturnType<typeof commitEnds>;
  private readonly maxBytes: number;
  /** By wallet, least recently requested first. */
  private readonly kept = new Map<number, Kept>();
  private bytes = 0;

  constructor(db: Db, maxBytes: number = MAX_BYTES) {
    this.lastBlock = lastBlock(db);
    this.endsOf = commitEnds(db);
    this.maxBytes = maxBytes;
  }

  /** The kept dealings of a wallet, undefined when there are none or they are of another branch of the chain. */
  find(wallet: number): Begun | undefined {
    const kept = this.kept.get(wallet);
    const ends = kept && this.endsOf(kept.tip);
    return ends && { dealings: kept.dealings, from: ends.lastTransfer + 1 };
  }

  /** Removes a wallet's dealings before they are extended, so that an aborted answer leaves none half done. */
  take(wallet: number): void {
    const kept = this.kept.get(wallet);
    if (kept === undefined) return;
    this.kept.delete(wallet);
    this.bytes -= kept.dealings.bytes;
  }

  /** Keeps the dealings of a wallet, which are complete up to the commit being read. */
  keep(wallet: number, dealings: Dealings): void {
    this.take(wallet);
    const tip = this.lastBlock();
    if (tip === null || dealings.bytes > this.maxBytes) return;
    this.kept.set(wallet, { dealings, tip });
    this.bytes += dealings.bytes;
    for (const oldest of this.kept.keys()) {
      if (this.bytes <= this.maxBytes) break;
      this.take(oldest);
    }
  }
}

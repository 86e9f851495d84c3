/**
 * Dealings of the wallets that were asked about lately and have many transfers. While the chain goes on, only what is
 * new of them is read; after a reorganisation they are summed anew.
 */
import { lastBlock } from '../store/chain.ts';
import type { Db } from '../store/open.ts';
import type { BlockRef } from '../types.ts';
import { commitEnds } from './commits.ts';
import type { Dealings } from './dealings.ts';

/** Memory that they may take together: room for the three hottest wallets of ten million transfers. */
const MAX_BYTES = 64 * 2 ** 20;

interface Kept {
  dealings: Dealings;
  /** They hold every transfer up to and with this block, and no later one. */
  tip: BlockRef;
}

/** The dealings of a wallet so far, with the transfer from which on they must be added to. */
export interface Begun {
  dealings: Dealings;
  from: number;
}

export class KeptDealings {
  private readonly lastBlock: () => BlockRef | null;
  private readonly endsOf: ReturnType<typeof commitEnds>;
  private readonly maxBytes: number;
  /** By wallet, the one asked about longest ago first. */
  private readonly kept = new Map<number, Kept>();
  private bytes = 0;

  constructor(db: Db, maxBytes: number = MAX_BYTES) {
    this.lastBlock = lastBlock(db);
    this.endsOf = commitEnds(db);
    this.maxBytes = maxBytes;
  }

  /** What is kept of a wallet, undefined when it is nothing or of another branch of the chain. */
  find(wallet: number): Begun | undefined {
    const kept = this.kept.get(wallet);
    const ends = kept && this.endsOf(kept.tip);
    return ends && { dealings: kept.dealings, from: ends.lastTransfer + 1 };
  }

  /** Takes what is to be added to out of the store, so that an answer that is broken off leaves nothing half done. */
  take(wallet: number): void {
    const kept = this.kept.get(wallet);
    if (kept === undefined) return;
    this.kept.delete(wallet);
    this.bytes -= kept.dealings.bytes;
  }

  /** Keeps the dealings of a wallet, which hold all of the commit that is read. */
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

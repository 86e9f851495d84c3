/**
 * A cache of the dealings of recently requested wallets with many transfers. As the chain grows only their new transfers
 * are read; after a reorg they are summed anew.
 */
import { prepareLastBlock } from '../store/chain.ts';
import type { Db } from '../store/open-database.ts';
import type { BlockRef } from '../types.ts';
import type { CounterpartyTable } from './counterparty-table.ts';
import { prepareLastIdsAt } from './last-ids.ts';

/** Most memory for all of them: enough for the three hottest wallets of ten million transfers. */
const MAX_BYTES = 64 * 2 ** 20;

interface CacheEntry {
  table: CounterpartyTable;
  /** They contain every transfer up to and including this block, and no later one. */
  tip: BlockRef;
}

/** The dealings of a wallet so far, and the first transfer not yet added. */
export interface CachedCounterparties {
  table: CounterpartyTable;
  from: number;
}

export class CounterpartyCache {
  private readonly lastBlock: () => BlockRef | null;
  private readonly lastIdsAt: ReturnType<typeof prepareLastIdsAt>;
  private readonly maxBytes: number;
  /** By wallet, least recently requested first. */
  private readonly entries = new Map<number, CacheEntry>();
  private bytes = 0;

  constructor(db: Db, maxBytes: number = MAX_BYTES) {
    this.lastBlock = prepareLastBlock(db);
    this.lastIdsAt = prepareLastIdsAt(db);
    this.maxBytes = maxBytes;
  }

  /** The kept dealings of a wallet, undefined when there are none or they are of another branch of the chain. */
  get(wallet: number): CachedCounterparties | undefined {
    const kept = this.entries.get(wallet);
    const ends = kept && this.lastIdsAt(kept.tip);
    return ends && { table: kept.table, from: ends.lastTransfer + 1 };
  }

  /** Removes a wallet's dealings before they are extended, so that an aborted answer leaves none half done. */
  delete(wallet: number): void {
    const kept = this.entries.get(wallet);
    if (kept === undefined) return;
    this.entries.delete(wallet);
    this.bytes -= kept.table.bytes;
  }

  /** Keeps the dealings of a wallet, which are complete up to the commit being read. */
  set(wallet: number, dealings: CounterpartyTable): void {
    this.delete(wallet);
    const tip = this.lastBlock();
    if (tip === null || dealings.bytes > this.maxBytes) return;
    this.entries.set(wallet, { table: dealings, tip });
    this.bytes += dealings.bytes;
    for (const oldest of this.entries.keys()) {
      if (this.bytes <= this.maxBytes) break;
      this.delete(oldest);
    }
  }
}

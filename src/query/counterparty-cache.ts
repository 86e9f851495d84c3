/**
 * A cache of the counterparties of recently requested wallets with many transfers. As the chain grows only their new transfers
 * are read; after a reorg they are summed anew.
 */
import { prepareLastBlock } from '../store/chain.ts';
import type { Db } from '../store/open-database.ts';
import type { BlockRef } from '../types.ts';
import type { CounterpartyTable } from './counterparty-table.ts';
import { prepareLastIdsAt } from './last-ids.ts';

/** Most memory for all tables: enough for the three hottest wallets of ten million transfers. */
const MAX_BYTES = 64 * 2 ** 20;

interface CacheEntry {
  table: CounterpartyTable;
  /** The last block whose transfers the table contains. */
  tip: BlockRef;
}

/** The counterparties of a wallet so far, and the first transfer not yet added. */
interface CachedCounterparties {
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

  /** The cached table of a wallet, undefined when there is none or it is of another branch of the chain. */
  get(wallet: number): CachedCounterparties | undefined {
    const cached = this.entries.get(wallet);
    const lastIds = cached && this.lastIdsAt(cached.tip);
    return lastIds && { table: cached.table, from: lastIds.lastTransfer + 1 };
  }

  /** Removes a wallet's table before it is extended, so that an aborted answer leaves none half done. */
  delete(wallet: number): void {
    const cached = this.entries.get(wallet);
    if (cached === undefined) return;
    this.entries.delete(wallet);
    this.bytes -= cached.table.bytes;
  }

  /** Caches the table of a wallet, which is complete up to the commit being read. */
  set(wallet: number, table: CounterpartyTable): void {
    this.delete(wallet);
    const tip = this.lastBlock();
    if (tip === null || table.bytes > this.maxBytes) return;
    this.entries.set(wallet, { table, tip });
    this.bytes += table.bytes;
    for (const oldest of this.entries.keys()) {
      if (this.bytes <= this.maxBytes) break;
      this.delete(oldest);
    }
  }
}

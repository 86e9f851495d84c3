/** The counterparties of a wallet, summed over its history, or over the part that its stored sums lack. */

import type { BlockRef } from '../model/block.ts';
import { prepareLastBlock } from '../store/chain.ts';
import { isCounterparty, PAGES_PER_FOLD } from '../store/counterparty-sums.ts';
import {
  type CounterpartyPlace,
  CounterpartyTable,
  type CounterpartyTotals,
  FIRST_PLACE,
} from '../store/counterparty-table.ts';
import type { Db } from '../store/open-database.ts';
import { ENTRIES_PER_PAGE } from '../store/wallet-history.ts';
import { type IdRange, prepareLastIdsAt } from './blocks.ts';
import { prepareSummedCounterparties } from './counterparty-peaks.ts';
import { prepareHistoryPages, prepareHistorySize } from './wallet-history-pages.ts';
import type { WorkBudget } from './work-budget.ts';

/** Memory limit of all tables: enough for the three hottest wallets of ten million transfers. */
const MAX_BYTES = 64 * 2 ** 20;

interface CacheEntry {
  table: CounterpartyTable;
  /** The table starts after this transfer. */
  after: number;
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

  /**
   * The cached table of a wallet's transfers after `after`, undefined if there is none or it belongs to another branch
   * of the chain.
   */
  get(wallet: number, after: number): CachedCounterparties | undefined {
    const cached = this.entries.get(wallet);
    if (cached === undefined || cached.after !== after) return undefined;
    const lastIds = this.lastIdsAt(cached.tip);
    return lastIds && { table: cached.table, from: lastIds.lastTransfer + 1 };
  }

  /** Removes a wallet's table before extending it, so that an aborted answer leaves no half-done table. */
  delete(wallet: number): void {
    const cached = this.entries.get(wallet);
    if (cached === undefined) return;
    this.entries.delete(wallet);
    this.bytes -= cached.table.bytes;
  }

  /** Caches the table of a wallet, which covers the transfers after `after` up to the commit being read. */
  set(wallet: number, after: number, table: CounterpartyTable): void {
    this.delete(wallet);
    const tip = this.lastBlock();
    if (tip === null || table.bytes > this.maxBytes) return;
    this.entries.set(wallet, { table, after, tip });
    this.bytes += table.bytes;
    for (const oldest of this.entries.keys()) {
      if (this.bytes <= this.maxBytes) break;
      this.delete(oldest);
    }
  }
}

const ALL_TRANSFERS: IdRange = { from: 1, below: Number.MAX_SAFE_INTEGER };

/**
 * Tables below this many entries are not cached. The event loop reads fewer entries itself (api/api.ts), so only the
 * read threads cache any.
 */
const MIN_CACHED_ENTRIES = 160 * ENTRIES_PER_PAGE;

/**
 * A wallet's counterparties with most transfers after a position, in descending order; of equal ones the latest first.
 * Excludes the wallet itself, the zero address, and zero token transfers.
 */
export function prepareCounterparties(
  db: Db,
): (wallet: number, limit: number, budget: WorkBudget, place?: CounterpartyPlace) => CounterpartyTotals[] {
  const readPages = prepareHistoryPages(db);
  const sizeOf = prepareHistorySize(db);
  const cache = new CounterpartyCache(db);
  const scratch = new CounterpartyTable();

  const addAll = (table: CounterpartyTable, wallet: number, range: IdRange, budget: WorkBudget): void => {
    for (const cursor of readPages(wallet, range, budget)) {
      while (cursor.next()) {
        if (cursor.transfer >= range.from && isCounterparty(cursor, wallet)) table.add(cursor);
      }
    }
  };

  const summed = prepareSummedCounterparties(db);
  /** The transfers of a wallet after `after`, summed. The table is valid until the next call. */
  const sumAfter = (wallet: number, after: number, budget: WorkBudget): CounterpartyTable => {
    const cached = cache.get(wallet, after);
    const range = { ...ALL_TRANSFERS, from: cached?.from ?? after + 1 };
    const size = sizeOf(wallet, range);
    budget.ensure(size);
    if (cached === undefined && size < MIN_CACHED_ENTRIES) {
      scratch.clear();
      addAll(scratch, wallet, range, budget);
      return scratch;
    }
    const table = cached?.table ?? new CounterpartyTable();
    cache.delete(wallet);
    addAll(table, wallet, range, budget);
    cache.set(wallet, after, table);
    return table;
  };

  return (wallet, limit, budget, place = FIRST_PLACE) => {
    const after = summed.lastOf(wallet);
    if (after === undefined) return sumAfter(wallet, 0, budget).top(limit, place);
    budget.ensure(PAGES_PER_FOLD * ENTRIES_PER_PAGE); // the worst case, however few entries have been added
    return summed.top(wallet, sumAfter(wallet, after, budget), limit, budget, place);
  };
}

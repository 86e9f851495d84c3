/** Lists a wallet's transfers from its history, newest first. */

import type { Db } from '../store/open-database.ts';
import { ENTRIES_PER_PAGE, WALLET_HISTORY } from '../store/wallet-history.ts';
import { collectMatches, type EntryFilter } from './entry-filter.ts';
import { type HistoryList, listNewest, listPieces, MAX_ENTRIES } from './history-pages.ts';
import { PAGE_STRETCHES } from './reach.ts';
import { prepareSharedTransfers } from './shared-transfers.ts';
import { prepareHistoryPages } from './wallet-history-pages.ts';
import { listEnd } from './wallet-history-reading.ts';
import type { WorkBudget } from './work-budget.ts';

/** Selects entries of a wallet's history. */
export interface HistoryFilter extends HistoryList, EntryFilter {
  /** tokens.id. */
  token?: number | undefined;
}

/** The ids of the newest entries that pass the filter, newest first. */
export function prepareHistoryIds(
  db: Db,
): (wallet: number, filter: HistoryFilter, budget: WorkBudget) => ReturnType<typeof listNewest> {
  const readPages = prepareHistoryPages(db);
  const sharedTransfers = prepareSharedTransfers(db);
  // The matches of one page, oldest first. The open page is never longer than a finished one.
  const matches = new Float64Array(ENTRIES_PER_PAGE);
  return (wallet, filter, budget) => {
    if (filter.token === undefined)
      return listNewest(readPages(wallet, filter, budget), WALLET_HISTORY, filter, matches, (page) =>
        collectMatches(page, filter, matches),
      );
    const { limit, maxEntries = MAX_ENTRIES } = filter;
    const end = listEnd(PAGE_STRETCHES);
    const most = Math.ceil(maxEntries / ENTRIES_PER_PAGE);
    return listPieces(sharedTransfers(wallet, filter.token, filter, end, budget, most), limit, end);
  };
}

/** Reads a wallet's transfers from its packed history pages (store/wallet-history.ts), newest first. */
import type { Db } from '../store/open-database.ts';
import { ENTRIES_PER_PAGE, HistoryCursor, WALLET_HISTORY } from '../store/wallet-history.ts';
import type { IdRange } from './blocks.ts';
import { preparePages } from './history-pages.ts';

/** The pages of wallets. */
export function prepareHistoryPages(db: Db) {
  return preparePages(WALLET_HISTORY, new HistoryCursor(), db);
}

/** Most pages counted to estimate the size of a list. Beyond, the list is just large. */
const MAX_COUNTED_PAGES = 256;

/** Approximate number of a wallet's entries within a range, at most MAX_COUNTED_PAGES full pages. */
export function prepareHistorySize(db: Db): (wallet: number, range: IdRange) => number {
  const countPages = db
    .prepare<[number, number, number], number>(/* sql */ `
      SELECT count(*) FROM (
        SELECT 1 FROM activity WHERE wallet = +? AND first_transfer >= +? AND first_transfer < +?
        LIMIT ${MAX_COUNTED_PAGES})`)
    .pluck();
  return (wallet, { from, below }) => (countPages.get(wallet, from, below) ?? 0) * ENTRIES_PER_PAGE;
}

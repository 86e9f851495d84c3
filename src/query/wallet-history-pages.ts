/** Reads a wallet's transfers from its packed history pages (store/wallet-history.ts), newest first. */

import { isNativeKind } from '../model/transfer-kind.ts';
import type { Db } from '../store/open-database.ts';
import { idList } from '../store/read/id-list.ts';
import { ENTRIES_PER_PAGE, HistoryCursor, HistoryFlag, WALLET_HISTORY } from '../store/wallet-history.ts';
import type { IdRange } from './blocks.ts';
import { type HistoryList, listNewest, preparePages } from './history-pages.ts';
import type { WorkBudget } from './work-budget.ts';

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

/** Selects entries of a wallet's history. */
export interface HistoryFilter extends HistoryList {
  /** Bits of HistoryFlag.in and HistoryFlag.out. An entry must have at least one of them. */
  direction: number;
  /** A bit `1 << kind` for each wanted kind. */
  kinds: number;
  /** wallets.id of the other side. */
  counterparty?: number | undefined;
  /** tokens.id. */
  token?: number | undefined;
  /** Only native transfers of at least this amount, as shortest big-endian bytes. */
  minWei?: Uint8Array | undefined;
}

/** The ids of the newest entries that pass the filter, newest first. */
export function prepareHistoryIds(
  db: Db,
): (wallet: number, filter: HistoryFilter, budget: WorkBudget) => ReturnType<typeof listNewest> {
  const readPages = prepareHistoryPages(db);
  // The matches of one page, oldest first. The open page is never longer than a finished one.
  const matches = new Float64Array(ENTRIES_PER_PAGE);
  const ofToken = db
    .prepare<[string, number], number>(/* sql */ `
      SELECT t.id FROM json_each(?) list CROSS JOIN transfers t ON t.id = list.value WHERE t.token = +?`)
    .pluck();
  /** Keeps those of the first `count` matches that carry the token. Returns their number. */
  const keepToken = (count: number, token: number, budget: WorkBudget): number => {
    if (count === 0) return 0;
    budget.spend(2 * count);
    const kept = ofToken.all(idList([...matches.subarray(0, count)]), token);
    matches.set(kept);
    return kept.length;
  };
  return (wallet, filter, budget) =>
    listNewest(readPages(wallet, filter, budget), WALLET_HISTORY, filter, matches, (page) => {
      const count = collectMatches(page, filter, matches);
      return filter.token === undefined ? count : keepToken(count, filter.token, budget);
    });
}

function collectMatches(cursor: HistoryCursor, filter: HistoryFilter, matches: Float64Array): number {
  const { from, below, direction, kinds, counterparty, minWei } = filter;
  let count = 0;
  while (cursor.next() && cursor.transfer < below) {
    if (cursor.transfer < from) continue;
    if ((cursor.flags & direction) === 0 || ((kinds >> (cursor.flags & HistoryFlag.kindMask)) & 1) === 0)
      continue;
    if (counterparty !== undefined && cursor.counterparty !== counterparty) continue;
    if (minWei !== undefined && !hasAtLeast(cursor, minWei)) continue;
    matches[count++] = cursor.transfer;
  }
  return count;
}

/** Whether the current entry carries at least this many wei. A token entry carries none. */
function hasAtLeast(cursor: HistoryCursor, wei: Uint8Array): boolean {
  if (!isNativeKind(cursor.flags & HistoryFlag.kindMask)) return false;
  const { bytes, amountStart, amountEnd } = cursor;
  const longer = amountEnd - amountStart - wei.length;
  if (longer !== 0) return longer > 0;
  for (let i = 0; i < wei.length; i++) {
    const difference = bytes[amountStart + i]! - wei[i]!;
    if (difference !== 0) return difference > 0;
  }
  return true;
}

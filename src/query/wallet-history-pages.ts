/** Reads a wallet's transfers from its packed history pages (store/wallet-history.ts), newest first. */

import { isNativeKind } from '../model/transfer-kind.ts';
import type { Db } from '../store/open-database.ts';
import { idList } from '../store/read/id-list.ts';
import { ENTRIES_PER_PAGE, HistoryCursor, HistoryFlag } from '../store/wallet-history.ts';
import type { IdRange } from './blocks.ts';
import type { WorkBudget } from './work-budget.ts';

/**
 * Pages fetched by the first statement. Each later one fetches GROWTH_FACTOR times as many, because most lists end
 * soon.
 */
const FIRST_PAGES = 2;
const GROWTH_FACTOR = 4;
const MAX_PAGES = 32;

/**
 * The pages of a wallet that may contain ids of the range, newest page first, each as a cursor before its first entry;
 * entries within a page are oldest first. The newest page may start below the range and end above it, so the reader
 * must check each id. All pages share one cursor: each is valid until the next one is read, of any wallet.
 */
type ReadPages = (wallet: number, range: IdRange, budget: WorkBudget) => Iterable<HistoryCursor>;

interface RecentRun {
  /** The wallet's open page. */
  recent: Buffer;
  /** The wallet's first transfer. The first entry of each page stores the distance from it. */
  base: number;
}

/** The open page of a wallet, by id. */
export function prepareRecentHistoryPage(db: Db): (wallet: number) => RecentRun | undefined {
  const statement = db.prepare<[number], RecentRun>(
    'SELECT recent, ifnull(first_transfer, 0) AS base FROM wallets WHERE id = +?',
  );
  return (wallet) => statement.get(wallet);
}

export function prepareHistoryPages(db: Db): ReadPages {
  const recentOf = prepareRecentHistoryPage(db);
  const olderPages = db
    .prepare<[number, number, number], Buffer>(/* sql */ `
      SELECT entries FROM activity WHERE wallet = +? AND first_transfer < +? ORDER BY first_transfer DESC LIMIT +?`)
    .pluck();
  const cursor = new HistoryCursor();
  const firstId = (page: Uint8Array, base: number) => (cursor.open(page, base).next() ? cursor.transfer : 0);

  return function* (wallet, range, budget) {
    const found = recentOf(wallet);
    if (found === undefined) return;
    const { recent, base } = found;
    let below = firstId(recent, base);
    if (below < range.below) yield cursor.open(recent, base);
    below = Math.min(below, range.below);
    for (let wanted = FIRST_PAGES; below > range.from; wanted = Math.min(wanted * GROWTH_FACTOR, MAX_PAGES)) {
      budget.spend(wanted * ENTRIES_PER_PAGE);
      const pages = olderPages.all(wallet, below, wanted);
      for (const page of pages) {
        below = firstId(page, base);
        yield cursor.open(page, base);
        if (below <= range.from) return;
      }
      if (pages.length < wanted) return;
    }
  };
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
export interface HistoryFilter extends IdRange {
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
  limit: number;
  /** Most entries examined per page of the answer. If few match, the reader continues with another page. */
  maxEntries?: number;
}

interface HistoryPage {
  /** Newest first. */
  ids: number[];
  /** Set when the work limit ended the page before the list: the rest of the list is below this id. */
  resumeBelow: number | null;
}

/** The default of `maxEntries`: some 10 ms, or 200 ms if each entry's token is read. */
const MAX_ENTRIES = 1_024 * ENTRIES_PER_PAGE;

/** The ids of the newest entries that pass the filter, newest first. */
export function prepareHistoryIds(
  db: Db,
): (wallet: number, filter: HistoryFilter, budget: WorkBudget) => HistoryPage {
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
  return (wallet, filter, budget) => {
    const ids: number[] = [];
    const { maxEntries = MAX_ENTRIES } = filter;
    let entries = 0;
    for (const page of readPages(wallet, filter, budget)) {
      let count = collectMatches(page, filter, matches);
      if (filter.token !== undefined) count = keepToken(count, filter.token, budget);
      while (count > 0 && ids.length < filter.limit) ids.push(matches[--count]!);
      if (ids.length === filter.limit) break;
      entries += ENTRIES_PER_PAGE;
      if (entries < maxEntries) continue;
      page.rewind();
      return { ids, resumeBelow: page.next() && page.transfer > filter.from ? page.transfer : null };
    }
    return { ids, resumeBelow: null };
  };
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

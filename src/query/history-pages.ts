/** Reads the transfers of a wallet or a token from its packed history pages (store/paged-history.ts), newest first. */
import type { Db } from '../store/open-database.ts';
import type { PageCursor, PagedHistory } from '../store/paged-history.ts';
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
 * The pages of an owner that may contain ids of the range, newest page first, each as a cursor before its first entry;
 * entries within a page are oldest first. The newest page may start below the range and end above it, so the reader
 * must check each id. All pages share one cursor: each is valid until the next one is read, of any owner.
 */
type ReadPages<Cursor> = (owner: number, range: IdRange, budget: WorkBudget) => Iterable<Cursor>;

export interface OpenPage {
  recent: Buffer;
  /** The owner's first transfer. The first entry of each page stores the distance from it. */
  base: number;
}

/** The open page of an owner, by id. */
export function prepareOpenPage({ owners }: PagedHistory, db: Db): (owner: number) => OpenPage | undefined {
  const statement = db.prepare<[number], OpenPage>(
    `SELECT recent, ifnull(first_transfer, 0) AS base FROM ${owners} WHERE id = +?`,
  );
  return (owner) => statement.get(owner);
}

/** `cursor` is the one that all pages share. */
export function preparePages<Cursor extends PageCursor>(
  history: PagedHistory,
  cursor: Cursor,
  db: Db,
): ReadPages<Cursor> {
  const { pages: table, owner: column, entriesPerPage } = history;
  const openPageOf = prepareOpenPage(history, db);
  const olderPages = db
    .prepare<[number, number, number], Buffer>(/* sql */ `
      SELECT entries FROM ${table} WHERE ${column} = +? AND first_transfer < +?
      ORDER BY first_transfer DESC LIMIT +?`)
    .pluck();
  const firstId = (page: Uint8Array, base: number) => (cursor.open(page, base).next() ? cursor.transfer : 0);

  return function* (owner, range, budget) {
    const found = openPageOf(owner);
    if (found === undefined) return;
    const { recent, base } = found;
    let below = firstId(recent, base);
    if (below < range.below) yield cursor.open(recent, base);
    below = Math.min(below, range.below);
    for (let wanted = FIRST_PAGES; below > range.from; wanted = Math.min(wanted * GROWTH_FACTOR, MAX_PAGES)) {
      budget.spend(wanted * entriesPerPage);
      const pages = olderPages.all(owner, below, wanted);
      for (const page of pages) {
        below = firstId(page, base);
        yield cursor.open(page, base);
        if (below <= range.from) return;
      }
      if (pages.length < wanted) return;
    }
  };
}

/** The newest transfers of a range that pass a filter. */
export interface HistoryList extends IdRange {
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

/** The default of `maxEntries`: some 10 ms, or 200 ms if the row of each is read. */
export const MAX_ENTRIES = 1_024 * 128;

/** Lists the newest of transfers that come in pieces from the newest one, each oldest first. */
export function listPieces(
  pieces: Iterable<readonly number[]>,
  limit: number,
  end: { readonly readFrom: number | null },
): HistoryPage {
  const ids: number[] = [];
  for (const piece of pieces) {
    for (let at = piece.length; at > 0 && ids.length < limit; ) ids.push(piece[--at]!);
    if (ids.length === limit) return { ids, resumeBelow: null };
  }
  return { ids, resumeBelow: end.readFrom };
}

/**
 * Lists the newest matches. `collect` puts the matches of a page into `matches`, oldest first, and returns their
 * number. It may end the list by `end`, above the rest.
 */
export function listNewest<Cursor extends PageCursor>(
  pages: Iterable<Cursor>,
  { entriesPerPage }: PagedHistory,
  { from, limit, maxEntries = MAX_ENTRIES }: HistoryList,
  matches: Float64Array,
  collect: (page: Cursor) => number,
  end: { readonly readFrom: number | null } = ENDLESS,
): HistoryPage {
  const ids: number[] = [];
  let entries = 0;
  for (const page of pages) {
    let count = collect(page);
    while (count > 0 && ids.length < limit) ids.push(matches[--count]!);
    if (ids.length === limit) break;
    if (end.readFrom !== null) return { ids, resumeBelow: end.readFrom };
    entries += entriesPerPage;
    if (entries < maxEntries) continue;
    page.rewind();
    return { ids, resumeBelow: page.next() && page.transfer > from ? page.transfer : null };
  }
  return { ids, resumeBelow: null };
}

const ENDLESS = { readFrom: null };

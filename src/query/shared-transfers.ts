/**
 * The transfers that a wallet shares with a token, from the packed histories of both: no row is read to find them. The
 * one with fewer transfers leads, and the pages of the other between them are leapt over.
 */
import { prepareDerivedEnd } from '../store/derived.ts';
import type { Db } from '../store/open-database.ts';
import { PageCursor, type PagedHistory } from '../store/paged-history.ts';
import { idList } from '../store/read/id-list.ts';
import { TOKEN_HISTORY } from '../store/tokens/token-history.ts';
import { HistoryCursor, WALLET_HISTORY } from '../store/wallet-history.ts';
import { collectMatches, type EntryFilter } from './entry-filter.ts';
import { type OpenPage, prepareOpenPage } from './history-pages.ts';
import { prepareHistoryPages } from './wallet-history-pages.ts';
import type { HistoryEnd } from './wallet-history-reading.ts';
import type { WorkBudget } from './work-budget.ts';

/** Most pages of both histories that a reading takes, 5 to 10 µs each. */
const MOST_PAGES = 2_048;

/** Transfers per piece. */
const PIECE = 128;

const EMPTY: OpenPage = { recent: Buffer.alloc(0), base: 0 };

/** The wanted transfers of an owner, downwards. */
class Descent<Cursor extends PageCursor> {
  /** Pages read so far. */
  pages = 0;
  /** Whether the transfer that was returned last is a wanted one. */
  isWanted = false;
  private readonly history: PagedHistory;
  private readonly cursor: Cursor;
  private readonly openPageOf: ReturnType<typeof prepareOpenPage>;
  private readonly pageUpTo: (owner: number, transfer: number) => Buffer | undefined;
  /** The wanted transfers of the page that is read, of which those above the last answer are dropped. */
  private readonly wanted: Float64Array;
  private count = 0;
  /** The first transfer of that page. */
  private first = Number.POSITIVE_INFINITY;
  private owner = 0;
  private open = EMPTY;
  private collect: (page: Cursor, wanted: Float64Array) => number = () => 0;

  constructor(history: PagedHistory, cursor: Cursor, db: Db) {
    const { pages, owner } = history;
    this.history = history;
    this.cursor = cursor;
    this.openPageOf = prepareOpenPage(history, db);
    const older = db
      .prepare<[number, number], Buffer>(/* sql */ `
        SELECT entries FROM ${pages} WHERE ${owner} = +? AND first_transfer <= +?
        ORDER BY first_transfer DESC LIMIT 1`)
      .pluck();
    this.pageUpTo = (owner, transfer) => older.get(owner, transfer);
    this.wanted = new Float64Array(history.entriesPerPage);
  }

  /** `collect` puts the wanted transfers of a page into an array, oldest first, and returns their number. */
  start(owner: number, collect: (page: Cursor, wanted: Float64Array) => number): this {
    this.owner = owner;
    this.open = this.openPageOf(owner) ?? EMPTY;
    this.collect = collect;
    this.pages = 0;
    this.count = 0;
    this.first = Number.POSITIVE_INFINITY;
    return this;
  }

  /** The highest wanted transfer up to `id`, or one above which none is; 0 without any. Reads at most a page. */
  upTo(id: number, budget: WorkBudget): number {
    this.isWanted = false;
    if (id < this.first && !this.read(id, budget)) return 0;
    while (this.count > 0 && this.wanted[this.count - 1]! > id) this.count--;
    this.isWanted = this.count > 0;
    return this.isWanted ? this.wanted[this.count - 1]! : this.first - 1;
  }

  /** Reads the page that holds the transfers up to `id`; false without one. */
  private read(id: number, budget: WorkBudget): boolean {
    const { recent, base } = this.open;
    let isThere = this.cursor.open(recent, base).next();
    if (!isThere || this.cursor.transfer > id) {
      const page = this.pageUpTo(this.owner, id);
      isThere = page !== undefined && this.cursor.open(page, base).next();
    }
    if (!isThere) return false;
    budget.spend(this.history.entriesPerPage);
    this.pages++;
    this.first = this.cursor.transfer;
    this.cursor.rewind();
    this.count = this.collect(this.cursor, this.wanted);
    return true;
  }
}

/**
 * The transfers of a wallet within a range that pass a filter and carry a token, in pieces from the newest one; those
 * of a piece are oldest first. The reading ends with a whole transaction, at `end` or after `pages` pages.
 */
export function prepareSharedTransfers(
  db: Db,
): (
  wallet: number,
  token: number,
  filter: EntryFilter,
  end: HistoryEnd,
  budget: WorkBudget,
  pages?: number,
) => Generator<number[]> {
  const ofWallet = new Descent(WALLET_HISTORY, new HistoryCursor(), db);
  const ofToken = new Descent(TOKEN_HISTORY, new PageCursor(), db);
  const derivedEnd = prepareDerivedEnd(db);
  const byRows = prepareSharedByRows(db);

  return function* (wallet, token, filter, end, budget, pages = MOST_PAGES) {
    const { from } = filter;
    const below = Math.min(filter.below, derivedEnd('token_history') + 1);
    if (below < filter.below) {
      const start = Math.max(from, below);
      yield* byRows(wallet, token, { ...filter, from: start }, end, budget);
      if (end.readFrom !== null && end.readFrom >= start) return;
    }
    ofWallet.start(wallet, (page, wanted) => collectMatches(page, { ...filter, below }, wanted));
    ofToken.start(token, collectAll);
    let piece: number[] = [];
    for (let id = below - 1; id >= (end.readFrom ?? from); ) {
      const transfer = ofWallet.upTo(id, budget);
      id = ofToken.upTo(transfer, budget);
      if (id === transfer && ofWallet.isWanted && ofToken.isWanted) piece.push(id--);
      if (end.readFrom === null && ofWallet.pages + ofToken.pages >= pages && id >= from) end.endAt(id + 1);
      if (piece.length < PIECE) continue;
      yield piece.reverse();
      piece = [];
    }
    const first = end.readFrom ?? from;
    piece = piece.filter((transfer) => transfer >= first);
    if (piece.length > 0) yield piece.reverse();
  };
}

function collectAll(page: PageCursor, wanted: Float64Array): number {
  let count = 0;
  while (page.next()) wanted[count++] = page.transfer;
  return count;
}

/** The same from rows, for transfers that the history of the token does not have yet. */
function prepareSharedByRows(
  db: Db,
): (
  wallet: number,
  token: number,
  filter: EntryFilter,
  end: HistoryEnd,
  budget: WorkBudget,
) => Generator<number[]> {
  const readPages = prepareHistoryPages(db);
  const matches = new Float64Array(WALLET_HISTORY.entriesPerPage);
  const ofToken = db
    .prepare<[string, number], number>(/* sql */ `
      SELECT t.id FROM json_each(?) list CROSS JOIN transfers t ON t.id = list.value WHERE t.token = +?`)
    .pluck();
  return function* (wallet, token, filter, end, budget) {
    for (const page of readPages(wallet, filter, budget)) {
      const wanted = [...matches.subarray(0, collectMatches(page, filter, matches))];
      const first = Math.max(end.within(wanted), filter.from);
      const ids = wanted.filter((id) => id >= first);
      budget.spend(2 * ids.length);
      const found = ofToken.all(idList(ids), token);
      if (found.length > 0) yield found;
      page.rewind();
      if (page.next() && page.transfer <= first) return;
    }
  };
}

/**
 * A token's history (store/paged-history.ts): the ids of its transfers. Entries as rich as those of a wallet would take
 * four times the space; whoever filters by more reads the rows of the transfers.
 */
import { ascendingOrder } from '../../lib/ascending-order.ts';
import type { Db, Statement } from '../open-database.ts';
import { PageCursor, type PagedHistory, PageTable, writeVarint } from '../paged-history.ts';
import { DamageError } from '../storage-error.ts';

/**
 * Most bytes of a page, of 1 to 3 for each transfer. From 256 to 1,900 they take the same space, 1.1 bytes a transfer:
 * larger pages waste less, but are larger in the rows of the tokens.
 */
export const TOKEN_PAGE_BYTES = 512;

export const TOKEN_HISTORY: PagedHistory = {
  owners: 'tokens',
  pages: 'token_activity',
  owner: 'token',
  entriesPerPage: TOKEN_PAGE_BYTES,
};

const NOTHING = new Uint8Array(0);

/** The statements on the histories of tokens that commits and rollbacks need. */
export class TokenHistoryTable {
  private readonly row: Statement<[number], [first: number, recent: Buffer]>;
  private readonly setRecent: Statement;
  private readonly pages: PageTable;
  private readonly cursor = new PageCursor();
  /** The open page of the token that grows. */
  private readonly page = new Uint8Array(TOKEN_PAGE_BYTES);

  constructor(db: Db) {
    this.row = db
      .prepare<[number], [first: number, recent: Buffer]>(
        'SELECT first_transfer, recent FROM tokens WHERE id = ?',
      )
      .raw();
    this.setRecent = db.prepare('UPDATE tokens SET recent = ? WHERE id = ?');
    this.pages = new PageTable(db, TOKEN_HISTORY);
  }

  /** Adds the transfers from `first` on. `tokens`: tokens.id of each, 0 for a native one. The tokens have rows. */
  append(first: number, tokens: Float64Array): void {
    const order = ascendingOrder(tokens);
    for (let start = 0, end = 0; start < order.length; start = end) {
      const token = tokens[order[start]!]!;
      while (end < order.length && tokens[order[end]!] === token) end++;
      if (token !== 0) this.extend(token, first, order.subarray(start, end));
    }
  }

  /** Removes the transfers above `last` of these tokens, whose rows are still there. */
  rollback(tokens: Iterable<number>, last: number): void {
    for (const token of tokens) {
      const [base, recent] = this.rowOf(token);
      const cursor = this.cursor.open(recent, base);
      const isGone = !cursor.next() || cursor.transfer > last;
      const page = isGone ? this.reopen(token, base, last) : recent;
      cursor.open(page, base);
      let end = 0;
      while (cursor.next() && cursor.transfer <= last) end = cursor.offset;
      this.setRecent.run(page.subarray(0, end), token);
    }
  }

  /** Adds the transfers `first + position` of a token, ascending. */
  private extend(token: number, first: number, positions: Uint32Array): void {
    const { page } = this;
    const [base, recent] = this.rowOf(token);
    page.set(recent);
    let length = recent.length;
    let [start, last] = this.endsOf(recent, base);
    for (const position of positions) {
      const id = first + position;
      if (length + varintBytes(id - last) > TOKEN_PAGE_BYTES) {
        this.pages.insert(token, start, page.subarray(0, length));
        length = 0;
      }
      if (length === 0) [start, last] = [id, base];
      length = writeVarint(page, length, id - last);
      last = id;
    }
    this.setRecent.run(page.subarray(0, length), token);
  }

  /** The first and the last transfer of a page; both `base` for an empty one. */
  private endsOf(page: Uint8Array, base: number): [first: number, last: number] {
    const cursor = this.cursor.open(page, base);
    cursor.next();
    const first = cursor.transfer;
    while (cursor.next());
    return [first, cursor.transfer];
  }

  /** The page that becomes the open one when no entry of that one stays: the newest that began up to `last`. */
  private reopen(token: number, base: number, last: number): Uint8Array {
    this.pages.deleteAbove(token, last);
    if (base > last) return NOTHING;
    const page = this.pages.takeNewest(token);
    if (page === undefined) throw new DamageError(`the history of token ${token} lacks a page`);
    return page;
  }

  private rowOf(token: number): [first: number, recent: Buffer] {
    const row = this.row.get(token);
    if (row === undefined) throw new DamageError(`the index refers to token ${token}, which has no row`);
    if (row[1].length > TOKEN_PAGE_BYTES)
      throw new DamageError(`the newest transfers of token ${token} take more than a page`);
    return row;
  }
}

/** The length of a varint, whose value is below 2^53. */
function varintBytes(value: number): number {
  let bytes = 1;
  for (let rest = value; rest > 127; rest = Math.floor(rest / 128)) bytes++;
  return bytes;
}

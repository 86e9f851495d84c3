/**
 * The mechanism of both histories, a wallet's and a token's: the transfers of an owner, oldest first, in packed pages.
 * The open page is the newest one, in `recent` of the owner's row. The transfer that finds it full moves it to a table
 * of finished pages, where it never changes again. So the pages follow from the transfers alone, not from commits.
 *
 * The first entry of a page has the distance of its transfer from the owner's first one, each later entry that from the
 * entry before.
 */
import type { Db, Statement } from './open-database.ts';

/** Whose history it is, and the table of its finished pages. */
export interface PagedHistory {
  readonly owners: 'wallets' | 'tokens';
  readonly pages: 'activity' | 'token_activity';
  /** The column of `pages` with the owner's id. */
  readonly owner: 'wallet' | 'token';
  /** Most entries of a page. */
  readonly entriesPerPage: number;
}

/** Reads the entries of a page. The fields hold the current entry. An entry may have more than its transfer. */
export class PageCursor {
  transfer = 0;
  bytes: Uint8Array = new Uint8Array(0);
  protected at = 0;
  private base = 0;

  /** Positions before the first entry of a page. `base` is the owner's first transfer. */
  open(bytes: Uint8Array, base: number): this {
    this.bytes = bytes;
    this.base = base;
    this.rewind();
    return this;
  }

  /** Goes back to before the first entry. */
  rewind(): void {
    this.at = 0;
    this.transfer = this.base;
  }

  /** Offset after the current entry. */
  get offset(): number {
    return this.at;
  }

  /** Steps to the next entry; false at the end of the page. */
  next(): boolean {
    if (!(this.at < this.bytes.length)) return false; // also stops after a truncated entry, where the offset is NaN
    this.transfer += this.varint();
    return true;
  }

  protected varint(): number {
    let byte = this.bytes[this.at++]!;
    let value = byte & 127;
    let scale = 128;
    while (byte > 127) {
      byte = this.bytes[this.at++]!;
      value += (byte & 127) * scale;
      scale *= 128;
    }
    return value;
  }
}

/** Writes a varint (lib/varint.ts) into `out` at `at` and returns the offset after it. */
export function writeVarint(out: Uint8Array, at: number, value: number): number {
  let rest = value;
  while (rest > 127) {
    out[at++] = (rest % 128) | 128;
    rest = Math.floor(rest / 128);
  }
  out[at++] = rest;
  return at;
}

/** The statements on finished pages that commits and rollbacks need. */
export class PageTable {
  private readonly insertPage: Statement;
  private readonly newest: Statement<[number], { first_transfer: number; entries: Buffer }>;
  private readonly deletePage: Statement;
  private readonly deletePages: Statement;

  constructor(db: Db, { pages, owner }: PagedHistory) {
    this.insertPage = db.prepare(`INSERT INTO ${pages} (${owner}, first_transfer, entries) VALUES (?, ?, ?)`);
    this.newest = db.prepare(
      `SELECT first_transfer, entries FROM ${pages} WHERE ${owner} = ? ORDER BY first_transfer DESC LIMIT 1`,
    );
    this.deletePage = db.prepare(`DELETE FROM ${pages} WHERE ${owner} = ? AND first_transfer = ?`);
    this.deletePages = db.prepare(`DELETE FROM ${pages} WHERE ${owner} = ? AND first_transfer > ?`);
  }

  /** Stores a finished page. `first`: the transfer of its first entry. */
  insert(owner: number, first: number, entries: Uint8Array): void {
    this.insertPage.run(owner, first, entries);
  }

  /** Removes the newest finished page, to be the open one again, and returns its entries; undefined without one. */
  takeNewest(owner: number): Buffer | undefined {
    const page = this.newest.get(owner);
    if (page !== undefined) this.deletePage.run(owner, page.first_transfer);
    return page?.entries;
  }

  /** Removes the pages whose transfers are all above `last`. */
  deleteAbove(owner: number, last: number): void {
    this.deletePages.run(owner, last);
  }
}

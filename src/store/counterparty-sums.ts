/**
 * The tables `counterparty_sums` and `summed_histories`: a busy wallet's transfers with each other wallet, summed up to
 * a point in its history. At most PAGES_PER_FOLD pages follow that point, so finding the top counterparties, or the
 * latest recipients of native coins, no longer costs in proportion to the history.
 *
 * Updating the sums with every transfer would touch one more page of the file each time, as much as all other work
 * together. Instead, the writer folds PAGES_PER_FOLD history pages at a time into the rows, in key order. The fold
 * points depend on the history alone, not on commits.
 */
import { bigIntToBytes, bytesToBigInt } from '../lib/hex.ts';
import { pushVarint } from '../lib/varint.ts';
import { CounterpartyTable, type CounterpartyTotals } from './counterparty-table.ts';
import type { Db, Statement } from './open-database.ts';
import { ZERO_WALLET } from './schema.ts';
import { HistoryCursor, HistoryFlag } from './wallet-history.ts';

/** History pages per fold: 262,144 entries, which a read sums in about 30 ms. */
export const PAGES_PER_FOLD = 2_048;

/**
 * Number of consecutive wallet ids per span, whose sums share a row. A wallet that deals with a tenth of all wallets
 * has 100 sums in each row.
 */
const SUMS_SPAN = 1_024;

/** The span of a counterparty. */
export function sumsSpanOf(counterparty: number): number {
  return Math.floor(counterparty / SUMS_SPAN);
}

/** Whether an entry of a wallet's history makes the other side a counterparty. */
export function isCounterparty({ flags, counterparty }: HistoryCursor, wallet: number): boolean {
  return counterparty !== wallet && counterparty !== ZERO_WALLET && (flags & HistoryFlag.zero) === 0;
}

/** Whether an entry of a wallet's history sends native coins to another. Only native entries carry an amount. */
export function isSent(cursor: HistoryCursor, wallet: number): boolean {
  const { flags, counterparty, amountStart, amountEnd } = cursor;
  return (flags & HistoryFlag.out) !== 0 && counterparty !== wallet && amountEnd > amountStart;
}

/** Adds the entry at the cursor to the sums, also for the zero address, although it is no counterparty. */
export function addToSums(table: CounterpartyTable, cursor: HistoryCursor, wallet: number): void {
  if (isCounterparty(cursor, wallet)) table.add(cursor);
  else if (isSent(cursor, wallet)) table.addWei(cursor);
}

/** Reads the sums of one row, ordered by counterparty. The fields hold the current sum. */
export class SumsCursor {
  counterparty = 0;
  inCount = 0;
  outCount = 0;
  lastTransfer = 0;
  sentCount = 0;
  firstSent = 0;
  lastSent = 0;
  /** Bounds of the current sum in the row. */
  start = 0;
  end = 0;
  private bytes: Uint8Array = new Uint8Array(0);
  private base = 0;
  private inAt = 0;
  private outAt = 0;

  open(bytes: Uint8Array, span: number): this {
    this.bytes = bytes;
    this.base = span * SUMS_SPAN;
    this.end = 0;
    return this;
  }

  /** Steps to the next sum; false at the end of the row. */
  next(): boolean {
    const { bytes } = this;
    if (!(this.end < bytes.length)) return false; // also stops after a truncated sum, where the offset is NaN
    this.start = this.end;
    this.counterparty = this.base + bytes[this.end]! * 256 + bytes[this.end + 1]!;
    this.end += 2;
    this.inCount = this.varint();
    this.outCount = this.varint();
    this.lastTransfer = this.varint();
    this.inAt = this.end;
    this.outAt = this.inAt + 1 + bytes[this.inAt]!;
    this.end = this.outAt + 1 + bytes[this.outAt]!;
    const hasSent = bytes[this.outAt]! > 0;
    this.sentCount = hasSent ? this.varint() : 0;
    this.lastSent = hasSent ? this.lastTransfer - this.varint() : 0;
    this.firstSent = this.sentCount > 1 ? this.lastSent - this.varint() : this.lastSent;
    return true;
  }

  totals(): CounterpartyTotals {
    const { counterparty, inCount, outCount, lastTransfer, sentCount, firstSent, lastSent } = this;
    const [inWei, outWei] = [this.weiAt(this.inAt), this.weiAt(this.outAt)];
    return { counterparty, inCount, outCount, inWei, outWei, lastTransfer, sentCount, firstSent, lastSent };
  }

  private weiAt(at: number): bigint {
    return bytesToBigInt(this.bytes.subarray(at + 1, at + 1 + this.bytes[at]!));
  }

  private varint(): number {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = this.bytes[this.end++]!;
      value += (byte & 127) * scale;
      if (!(byte > 127)) return value;
    }
  }
}

/** Adds two totals of the same counterparty. */
export function addTotals(a: CounterpartyTotals, b: CounterpartyTotals): CounterpartyTotals {
  return {
    counterparty: a.counterparty,
    inCount: a.inCount + b.inCount,
    outCount: a.outCount + b.outCount,
    inWei: a.inWei + b.inWei,
    outWei: a.outWei + b.outWei,
    lastTransfer: Math.max(a.lastTransfer, b.lastTransfer),
    sentCount: a.sentCount + b.sentCount,
    firstSent: Math.min(a.firstSent || b.firstSent, b.firstSent || a.firstSent),
    lastSent: Math.max(a.lastSent, b.lastSent),
  };
}

/** Writes one row. */
class RowEncoder {
  /**
   * Transfer count and newest transfer of the counterparty with most transfers. On a tie, the later newest transfer
   * wins.
   */
  peak = 0;
  last = 0;
  /** The newest native transfer to any of them, 0 without any. */
  sent = 0;
  private readonly parts: Uint8Array[] = [];

  /** Copies a sum from an older row. */
  copy(row: Uint8Array, sum: SumsCursor): void {
    this.rank(sum);
    this.parts.push(row.subarray(sum.start, sum.end));
  }

  add(sum: CounterpartyTotals): void {
    this.rank(sum);
    const offset = sum.counterparty % SUMS_SPAN;
    const bytes = [offset >> 8, offset & 255];
    for (const number of [sum.inCount, sum.outCount, sum.lastTransfer]) pushVarint(bytes, number);
    for (const wei of [bigIntToBytes(sum.inWei), bigIntToBytes(sum.outWei)]) bytes.push(wei.length, ...wei);
    if (sum.sentCount > 0) {
      pushVarint(bytes, sum.sentCount);
      pushVarint(bytes, sum.lastTransfer - sum.lastSent);
      if (sum.sentCount > 1) pushVarint(bytes, sum.lastSent - sum.firstSent);
    }
    this.parts.push(Uint8Array.from(bytes));
  }

  bytes(): Uint8Array {
    return Buffer.concat(this.parts);
  }

  private rank({
    inCount,
    outCount,
    lastTransfer,
    lastSent,
  }: Omit<CounterpartyTotals, 'inWei' | 'outWei'>): void {
    this.sent = Math.max(this.sent, lastSent);
    const count = inCount + outCount;
    if (count < this.peak || (count === this.peak && lastTransfer < this.last)) return;
    this.peak = count;
    this.last = lastTransfer;
  }
}

/** The summed part of a wallet's history. */
interface SummedHistory {
  pages: number;
  /** The newest transfer in the sums. */
  last: number;
}

/** The facts about a wallet that a fold needs, as the commit leaves them. */
export interface History {
  id: number;
  firstTransfer: number | null;
  finishedPages: number;
}

/** Portions summed in memory before writing: two million entries, at most 200 MB. */
const PORTIONS_AT_ONCE = 8;

const NOTHING_SUMMED: SummedHistory = { pages: 0, last: 0 };

/** The statements on `counterparty_sums` that a commit needs. They read the history as the commit leaves it. */
export class CounterpartySumsTable {
  private readonly pagesPerFold: number;
  private readonly summed: Statement<[number], SummedHistory>;
  private readonly setSummed: Statement;
  private readonly pagesAfter: Statement<[number, number, number], Buffer>;
  private readonly sumsOf: Statement<[number, number], Buffer>;
  private readonly write: Statement;
  private readonly deletions: readonly Statement[];

  /** Only tests pass `pagesPerFold`. */
  constructor(db: Db, pagesPerFold: number = PAGES_PER_FOLD) {
    this.pagesPerFold = pagesPerFold;
    this.summed = db.prepare('SELECT pages, last FROM summed_histories WHERE wallet = ?');
    this.setSummed = db.prepare('REPLACE INTO summed_histories (wallet, pages, last) VALUES (?, ?, ?)');
    this.pagesAfter = db
      .prepare<[number, number, number], Buffer>(
        'SELECT entries FROM activity WHERE wallet = ? AND first_transfer > ? ORDER BY first_transfer LIMIT ?',
      )
      .pluck();
    this.sumsOf = db
      .prepare<[number, number], Buffer>('SELECT sums FROM counterparty_sums WHERE wallet = ? AND span = ?')
      .pluck();
    this.write = db.prepare(
      'REPLACE INTO counterparty_sums (wallet, span, peak, last, sent, sums) VALUES (?, ?, ?, ?, ?, ?)',
    );
    this.deletions = ['counterparty_sums', 'summed_histories'].map((table) =>
      db.prepare(`DELETE FROM ${table} WHERE wallet = ?`),
    );
  }

  /** Folds the pages that the commit completed; `added` is how many pages of the wallet it finished. */
  extend(history: History, added: number): void {
    if (this.target(history.finishedPages) > this.target(history.finishedPages - added))
      this.foldAll(history);
  }

  /**
   * Call it when pages of the wallet were removed. A newest transfer cannot be subtracted, so a rollback past a fold
   * point (one in 262,144 entries) sums the wallet's history again.
   */
  rollback(history: History): void {
    if ((this.summed.get(history.id)?.pages ?? 0) <= history.finishedPages) return;
    for (const deletion of this.deletions) deletion.run(history.id);
    if (this.target(history.finishedPages) > 0) this.foldAll(history);
  }

  /**
   * Folds up to `portions` portions of the wallet's missing sums. Returns whether folding is complete, or stopped by
   * damage.
   */
  foldSome(history: History, portions: number): boolean {
    const target = this.target(history.finishedPages);
    const { pages } = this.summed.get(history.id) ?? NOTHING_SUMMED;
    const end = Math.min(target, pages + portions * this.pagesPerFold);
    if (pages < end) this.fold(history, end);
    const isStuck = (this.summed.get(history.id)?.pages ?? 0) < end; // damage, which verify reports
    return isStuck || end === target;
  }

  private foldAll(history: History): void {
    while (!this.foldSome(history, PORTIONS_AT_ONCE));
  }

  private target(finishedPages: number): number {
    return finishedPages - (finishedPages % this.pagesPerFold);
  }

  private fold({ id, firstTransfer }: History, target: number): void {
    const table = new CounterpartyTable();
    const cursor = new HistoryCursor();
    let { pages, last } = this.summed.get(id) ?? NOTHING_SUMMED;
    while (pages < target) {
      const read = this.pagesAfter.all(id, last, Math.min(target - pages, PAGES_PER_FOLD));
      for (const entries of read) {
        cursor.open(entries, firstTransfer ?? 0);
        while (cursor.next()) addToSums(table, cursor, id);
        last = cursor.transfer;
      }
      pages += read.length;
      if (read.length === 0) break; // damage, which verify reports
    }
    this.merge(id, table);
    this.setSummed.run(id, pages, last);
  }

  /** Adds the totals of a table to the rows of a wallet. */
  private merge(wallet: number, table: CounterpartyTable): void {
    const rows = table.rowsInOrder();
    for (let at = 0; at < rows.length; ) {
      const span = sumsSpanOf(table.counterpartyOf(rows[at]!));
      const row = new RowEncoder();
      const stored = this.sumsOf.get(wallet, span) ?? new Uint8Array(0);
      const sum = new SumsCursor().open(stored, span);
      const belongs = () => at < rows.length && sumsSpanOf(table.counterpartyOf(rows[at]!)) === span;
      while (sum.next()) {
        while (belongs() && table.counterpartyOf(rows[at]!) < sum.counterparty)
          row.add(table.totals(rows[at++]!));
        if (belongs() && table.counterpartyOf(rows[at]!) === sum.counterparty)
          row.add(addTotals(sum.totals(), table.totals(rows[at++]!)));
        else row.copy(stored, sum);
      }
      while (belongs()) row.add(table.totals(rows[at++]!));
      this.write.run(wallet, span, row.peak, row.last, row.sent, row.bytes());
    }
  }
}

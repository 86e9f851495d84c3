/** Counts admitted requests per key, calendar month and hour in memory, and writes them to the file periodically. */

import type { FatalError, StorageError } from '../lib/errors.ts';
import { guarded } from '../lib/guard.ts';
import { FileIdentity } from '../store/file-guard.ts';
import type { Db, Statement } from '../store/open-database.ts';
import { isLocked } from '../store/storage-error.ts';
import { isFileFailure, toKeysStorageError } from './keys-file.ts';
import { type MonthlyUsage, ownUsage } from './usage-tables.ts';

/**
 * How often counts are written, milliseconds. A kill may lose at most one second of counts; half of that leaves room
 * for a late timer.
 */
const FLUSH_MS = 500;

/** Consecutive locked flushes before they are reported: five seconds, longer than any change of a key. */
const MAX_LOCKED_FLUSHES = 10;

export const HOUR_MS = 3_600_000;

/** How long hourly counts are kept: a month and a day. Each new hour then replaces an old one. */
export const HISTORY_HOURS = 32 * 24;

interface Count {
  /** In the current month. */
  requests: number;
  /** The part of `requests` that is already in the file or in an unwritten row. */
  written: number;
}

/** Requests to add to those in the file. */
interface UnwrittenUsage {
  key: number;
  month: number;
  /** Null when unknown: the row then counts by month only. */
  hour: number | null;
  requests: number;
}

/** Called once with the reason when counts cannot be written or read, and with null on recovery. */
export type OnFailure = (error: StorageError | FatalError | null) => void;

/**
 * The only writer of the usage tables. While the file cannot be written or read (disk full, file damaged or moved
 * away), counts stay in memory and requests are still served.
 */
export class UsageCounter {
  private readonly db: Db;
  private readonly fileIdentity: FileIdentity;
  private readonly writeMonth: Statement<[number, number, number], number>;
  private readonly writeHour: Statement<[number, number, number]>;
  private readonly hasHour: Statement<[number]>;
  private readonly deleteOldestHour: Statement<[number]>;
  private readonly elsewhere: UsageElsewhere;
  private readonly counts = new Map<number, Count>();
  /** Unix milliseconds of the last request of each key. */
  private readonly lastUses: Map<number, number>;
  private readonly timer: NodeJS.Timeout;
  private readonly onFailure: OnFailure;
  /** Called after each flush with the new totals of the keys that it wrote. */
  onWritten: (totals: MonthlyUsage[]) => void = () => undefined;
  /** Rows of past hours that could not be written. */
  private unwritten: UnwrittenUsage[] = [];
  /** Whether the file's counts of the current month still have to be read. */
  private isUnread = false;
  private isFailing = false;
  /** Consecutive flushes that found the file locked. */
  private lockedFlushes = 0;
  /** Year * 100 + month (1-12), UTC. */
  private month: number;
  /** Unix time in whole hours. Months begin and end on the hour, so checking the hour at each request detects both. */
  private hour: number;

  /** Reads the counts of the current month. Times are Unix milliseconds here and below. */
  constructor(db: Db, now: number = Date.now(), onFailure: OnFailure = () => undefined) {
    this.db = db;
    this.writeMonth = db
      .prepare<[number, number, number], number>(/* sql */ `
        INSERT INTO usage (key, month, requests) VALUES (?, ?, ?)
        ON CONFLICT (key, month) DO UPDATE SET requests = requests + excluded.requests RETURNING requests`)
      .pluck();
    this.writeHour = db.prepare(/* sql */ `
      INSERT INTO usage_hours (hour, key, requests) VALUES (?, ?, ?)
      ON CONFLICT (hour, key) DO UPDATE SET requests = requests + excluded.requests`);
    this.hasHour = db.prepare('SELECT 1 FROM usage_hours WHERE hour = ? LIMIT 1');
    this.deleteOldestHour = db.prepare(
      'DELETE FROM usage_hours WHERE hour = (SELECT min(hour) FROM usage_hours) AND hour <= ?',
    );
    this.onFailure = onFailure;
    this.month = monthOf(now);
    this.hour = hourOf(now);
    this.elsewhere = new UsageElsewhere(db);
    this.elsewhere.read(this.month);
    this.recount(ownUsage(this.db, this.month));
    this.lastUses = new Map(lastHours(db).map(({ key, hour }) => [key, hour * HOUR_MS]));
    this.fileIdentity = new FileIdentity(db.name);
    this.timer = setInterval(
      guarded('usage', () => this.flush()),
      FLUSH_MS,
    ).unref();
  }

  /** A key's requests so far in the month of `now`, on all daemons that share the keys. */
  used(key: number, now: number): number {
    this.rollOverIfDue(now);
    return (this.counts.get(key)?.requests ?? 0) + this.elsewhere.used(key);
  }

  /** Adds `requests` to the count of a key. */
  add(key: number, requests: number, now: number): void {
    this.rollOverIfDue(now);
    this.addTo(key, requests);
    this.lastUses.set(key, now);
  }

  /**
   * Unix milliseconds of a key's last request, rounded to the hour for an earlier run; null without a request within a
   * month.
   */
  lastUse(key: number): number | null {
    return this.lastUses.get(key) ?? null;
  }

  /** Stores the other daemons' counts; `seen` is written with them (table `cluster`). */
  setElsewhere(totals: readonly MonthlyUsage[], seen: number): void {
    this.elsewhere.set(totals, seen, this.month);
  }

  /** Adds counts that this file lost because it was restored from a backup. */
  addLost(lost: readonly MonthlyUsage[]): void {
    for (const row of lost) {
      this.unwritten.push({ ...row, hour: null });
      if (row.month !== this.month) continue;
      this.addTo(row.key, row.requests);
      const count = this.counts.get(row.key);
      if (count !== undefined) count.written += row.requests;
    }
  }

  /** When the current month ends. */
  get monthEndsAt(): number {
    // Date.UTC counts months from 0, so this is the next month.
    return Date.UTC(Math.floor(this.month / 100), this.month % 100);
  }

  /** Writes all changed counts in one transaction, after reading any unread ones. The next flush retries a failure. */
  flush(): void {
    let totals: MonthlyUsage[];
    try {
      if (this.isUnread) {
        this.recount(ownUsage(this.db, this.month));
        this.elsewhere.read(this.month);
      }
      this.isUnread = false;
      totals = this.write([...this.unwritten, ...this.changedRows()]);
    } catch (error) {
      const translated = toKeysStorageError(error, this.db);
      if (!isFileFailure(translated)) throw translated;
      if (isLocked(error) && ++this.lockedFlushes <= MAX_LOCKED_FLUSHES) return;
      if (!this.isFailing) this.onFailure(translated);
      this.isFailing = true;
      return;
    }
    this.lockedFlushes = 0;
    this.unwritten = [];
    this.markWritten();
    this.elsewhere.markWritten();
    if (this.isFailing) this.onFailure(null);
    this.isFailing = false;
    if (totals.length > 0) this.onWritten(totals);
  }

  /** Writes the remaining counts and stops the timer. */
  close(): void {
    clearInterval(this.timer);
    this.flush();
  }

  private addTo(key: number, requests: number): void {
    const count = this.counts.get(key);
    if (count === undefined) this.counts.set(key, { requests, written: 0 });
    else count.requests += requests;
  }

  private changedRows(): UnwrittenUsage[] {
    return [...this.counts]
      .filter(([, { requests, written }]) => requests !== written)
      .map(([key, { requests, written }]) => ({
        key,
        month: this.month,
        hour: this.hour,
        requests: requests - written,
      }));
  }

  private markWritten(): void {
    for (const count of this.counts.values()) count.written = count.requests;
  }

  /** Returns the new totals in the file. */
  private write(rows: readonly UnwrittenUsage[]): MonthlyUsage[] {
    // Checked even with nothing to write, because it explains why the keys in a replaced file are refused.
    this.fileIdentity.check();
    if (rows.length === 0 && !this.elsewhere.isChanged) return [];
    return this.db
      .transaction(() => {
        this.elsewhere.write();
        return rows.map((row) => this.writeRow(row));
      })
      .immediate(); // a transaction that has read first does not wait for the write lock
  }

  private writeRow({ key, month, hour, requests }: UnwrittenUsage): MonthlyUsage {
    if (hour !== null) {
      // Each new hour deletes one old hour, so a clock that is far ahead for a while costs little history.
      if (this.hasHour.get(hour) === undefined) this.deleteOldestHour.run(hour - HISTORY_HOURS);
      this.writeHour.run(hour, key, requests);
    }
    return { key, month, requests: this.writeMonth.get(key, month, requests) ?? requests };
  }

  private rollOverIfDue(now: number): void {
    if (hourOf(now) !== this.hour) this.beginHour(now);
  }

  /** Starts the hour of `now`. A corrected clock may return to a month that already has counts. */
  private beginHour(now: number): void {
    this.setAside();
    this.hour = hourOf(now);
    if (monthOf(now) !== this.month) this.beginMonth(now);
    this.flush();
  }

  private beginMonth(now: number): void {
    this.month = monthOf(now);
    this.recount([]);
    this.elsewhere.beginMonth(this.month);
    this.isUnread = true;
  }

  /** Turns the counts of the current hour into unwritten rows. */
  private setAside(): void {
    this.unwritten.push(...this.changedRows());
    this.markWritten();
  }

  /** Sets the counts to the file's counts of the current month plus the unwritten rows. */
  private recount(inFile: readonly { key: number; requests: number }[]): void {
    this.setAside();
    this.counts.clear();
    const unwritten = this.unwritten.filter(({ month }) => month === this.month);
    for (const { key, requests } of [...inFile, ...unwritten]) this.addTo(key, requests);
    this.markWritten();
  }
}

/** The last hour in which each key was used. */
function lastHours(db: Db): { key: number; hour: number }[] {
  return db
    .prepare<[], { key: number; hour: number }>('SELECT key, max(hour) AS hour FROM usage_hours GROUP BY key')
    .all();
}

function hourOf(now: number): number {
  return Math.floor(now / HOUR_MS);
}

function monthOf(now: number): number {
  const date = new Date(now);
  return date.getUTCFullYear() * 100 + date.getUTCMonth() + 1;
}

/** The counts of other daemons that share the keys: this month's totals in memory, all totals in the file. */
class UsageElsewhere {
  private readonly db: Db;
  /** Requests in the current month, by key. */
  private readonly counts = new Map<number, number>();
  /** Totals to write, by month and key: bounded by the number of keys. */
  private unwritten = new Map<string, MonthlyUsage>();
  private seen: number | null = null;

  constructor(db: Db) {
    this.db = db;
  }

  used(key: number): number {
    return this.counts.get(key) ?? 0;
  }

  set(totals: readonly MonthlyUsage[], seen: number, month: number): void {
    this.seen = seen;
    for (const total of totals) {
      this.unwritten.set(`${total.month} ${total.key}`, total);
      if (total.month === month) this.counts.set(total.key, total.requests);
    }
  }

  beginMonth(month: number): void {
    this.counts.clear();
    for (const total of this.unwritten.values())
      if (total.month === month) this.counts.set(total.key, total.requests);
  }

  /** Loads the file's totals of the month. */
  read(month: number): void {
    const rows = this.db
      .prepare<[number], MonthlyUsage>('SELECT key, month, requests FROM usage_elsewhere WHERE month = ?')
      .all(month);
    for (const { key, requests } of rows)
      if (!this.unwritten.has(`${month} ${key}`)) this.counts.set(key, requests);
  }

  get isChanged(): boolean {
    return this.seen !== null;
  }

  /** Call it in a transaction, and `markWritten` after the commit. */
  write(): void {
    if (this.seen === null) return;
    const write = this.db.prepare('REPLACE INTO usage_elsewhere (key, month, requests) VALUES (?, ?, ?)');
    for (const { key, month, requests } of this.unwritten.values()) write.run(key, month, requests);
    this.db.prepare('UPDATE cluster SET usage_seen = ?').run(this.seen);
  }

  markWritten(): void {
    this.unwritten = new Map();
    this.seen = null;
  }
}

/** Requests admitted per key in the current calendar month and hour, counted in memory and written to the file later. */
import { StorageError } from '../errors.ts';
import { FileIdentity } from '../store/file-identity.ts';
import type { Db, Statement } from '../store/open-database.ts';
import { isLocked } from '../store/storage-error.ts';
import { toKeysStorageError } from './keys-file.ts';

/**
 * How often counts are written to the file, milliseconds: half of the second of counts that a kill may lose, so that a
 * late timer still keeps the promise.
 */
const FLUSH_MS = 500;

/** How often in a row the file may be found locked before that is reported: five seconds. A change of a key is faster. */
const MAX_LOCKED = 10;

export const HOUR_MS = 3_600_000;

/** How long the hourly counts are kept: a month and a day, and then until another hour is counted for each. */
export const HISTORY_HOURS = 32 * 24;

interface Count {
  /** In the current month. */
  requests: number;
  /** The part of `requests` that the file or an unwritten row has. */
  written: number;
}

/** Requests of one key in one month (year * 100 + month, UTC). */
export interface MonthlyUsage {
  key: number;
  month: number;
  requests: number;
}

/** Requests in one hour (Unix time in whole hours). */
export interface HourlyUsage {
  hour: number;
  requests: number;
}

/** Requests that are added to those in the file. */
interface Row {
  key: number;
  month: number;
  hour: number;
  requests: number;
}

/** Called once with the reason when counts cannot be written or read, and with null when they can again. */
export type OnFailure = (error: StorageError | null) => void;

/**
 * Counts admitted requests. The one writer of the usage tables. While the file cannot be written (disk full, moved
 * away) or read the counts stay in memory and requests are still served.
 */
export class UsageCounter {
  private readonly db: Db;
  private readonly fileIdentity: FileIdentity;
  private readonly writeMonth: Statement<[number, number, number]>;
  private readonly writeHour: Statement<[number, number, number]>;
  private readonly hasHour: Statement<[number]>;
  private readonly deleteOldestHour: Statement<[number]>;
  private readonly counts = new Map<number, Count>();
  private readonly timer: NodeJS.Timeout;
  private readonly onFailure: OnFailure;
  /** Rows of past hours that could not be written. */
  private unwritten: Row[] = [];
  /** Whether the counts still lack what the file has of the current month. */
  private isUnread = false;
  private isFailing = false;
  /** How many times in a row the file was locked. */
  private locked = 0;
  /** Year * 100 + month (1-12), UTC. */
  private month: number;
  /** Unix time in whole hours. Months begin and end on the hour, so checking the hour at each request detects both. */
  private hour: number;

  /** Reads the counts of the current month. Times are Unix milliseconds here and below. */
  constructor(db: Db, now: number = Date.now(), onFailure: OnFailure = () => undefined) {
    this.db = db;
    this.writeMonth = db.prepare(/* sql */ `
      INSERT INTO usage (key, month, requests) VALUES (?, ?, ?)
      ON CONFLICT (key, month) DO UPDATE SET requests = requests + excluded.requests`);
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
    this.recount(this.readMonth());
    this.fileIdentity = new FileIdentity(db.name);
    this.timer = setInterval(() => this.flush(), FLUSH_MS).unref();
  }

  /** A key's requests so far in the month of `now`. */
  used(key: number, now: number): number {
    this.rollOverIfDue(now);
    return this.counts.get(key)?.requests ?? 0;
  }

  /** Adds `requests` to the count of a key. */
  add(key: number, requests: number, now: number): void {
    this.rollOverIfDue(now);
    this.addTo(key, requests);
  }

  /** When the current month ends. */
  get monthEndsAt(): number {
    return Date.UTC(Math.floor(this.month / 100), this.month % 100); // its months count from 0: this is the next one
  }

  /** Writes all changed counts in one transaction, and reads those not yet read; what fails is retried with the next. */
  flush(): void {
    try {
      if (this.isUnread) this.recount(this.readMonth());
      this.isUnread = false;
      this.write([...this.unwritten, ...this.changedRows()]);
    } catch (error) {
      const translated = toKeysStorageError(error, this.db);
      if (!(translated instanceof StorageError)) throw translated;
      if (isLocked(error) && ++this.locked <= MAX_LOCKED) return;
      if (!this.isFailing) this.onFailure(translated);
      this.isFailing = true;
      return;
    }
    this.locked = 0;
    this.unwritten = [];
    this.markWritten();
    if (this.isFailing) this.onFailure(null);
    this.isFailing = false;
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

  private changedRows(): Row[] {
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

  private write(rows: readonly Row[]): void {
    // Also when there is nothing to write: without it nobody would learn why the keys in a new file are refused.
    this.fileIdentity.check();
    if (rows.length === 0) return;
    this.db
      .transaction(() => {
        for (const { key, month, hour, requests } of rows) {
          // One old hour goes for each that comes: a clock that is far ahead for a while costs little of the history.
          if (this.hasHour.get(hour) === undefined) this.deleteOldestHour.run(hour - HISTORY_HOURS);
          this.writeMonth.run(key, month, requests);
          this.writeHour.run(hour, key, requests);
        }
      })
      .immediate(); // once it has read, a transaction no longer waits for the right to write
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
    this.isUnread = true;
  }

  /** Makes unwritten rows of what was counted in the current hour. */
  private setAside(): void {
    this.unwritten.push(...this.changedRows());
    this.markWritten();
  }

  /** Sets the counts to what the file has of the current month, together with what it still lacks. */
  private recount(inFile: readonly { key: number; requests: number }[]): void {
    this.setAside();
    this.counts.clear();
    const unwritten = this.unwritten.filter(({ month }) => month === this.month);
    for (const { key, requests } of [...inFile, ...unwritten]) this.addTo(key, requests);
    this.markWritten();
  }

  private readMonth(): { key: number; requests: number }[] {
    return this.db
      .prepare<[number], { key: number; requests: number }>('SELECT key, requests FROM usage WHERE month = ?')
      .all(this.month);
  }
}

/** Usage in the file by key and month, newest month first; `key` narrows it to one key. */
export function readUsage(db: Db, key?: number): MonthlyUsage[] {
  return db
    .prepare<[number | null], MonthlyUsage>(
      'SELECT key, month, requests FROM usage WHERE key = coalesce(?, key) ORDER BY month DESC, key',
    )
    .all(key ?? null);
}

/** The sum of all keys' usage by month, newest month first. `key` restricts it to one key. */
export function sumUsageByMonth(db: Db, key?: number): Omit<MonthlyUsage, 'key'>[] {
  return db
    .prepare<[number | null], Omit<MonthlyUsage, 'key'>>(
      'SELECT month, sum(requests) AS requests FROM usage WHERE key = coalesce(?, key) GROUP BY month ORDER BY month DESC',
    )
    .all(key ?? null);
}

/**
 * The sum of all keys' usage by hour from `fromHour` on, oldest first; hours without any are left out. `key` restricts it
 * to one key.
 */
export function sumUsageByHour(db: Db, fromHour: number, key?: number): HourlyUsage[] {
  return db
    .prepare<[number, number | null], HourlyUsage>(
      'SELECT hour, sum(requests) AS requests FROM usage_hours WHERE hour >= ? AND key = coalesce(?, key) GROUP BY hour ORDER BY hour',
    )
    .all(fromHour, key ?? null);
}

function hourOf(now: number): number {
  return Math.floor(now / HOUR_MS);
}

function monthOf(now: number): number {
  const date = new Date(now);
  return date.getUTCFullYear() * 100 + date.getUTCMonth() + 1;
}

/** How many requests each key was admitted in the present calendar month and hour, kept in memory and written behind. */
import type { Db } from '../store/open.ts';

/**
 * How often counts go to the file. Half of the second that a kill may cost, so that a late timer still keeps the
 * promise.
 */
const FLUSH_MS = 500;

const HOUR_MS = 3_600_000;

/** How long the hourly counts are kept: a month and a day. */
export const HISTORY_HOURS = 32 * 24;

interface Count {
  /** In the present month. */
  requests: number;
  /** What of `requests` the file has. */
  written: number;
  /** What of `requests` is from before the present hour. */
  beforeHour: number;
}

/** Requests of one key in one month (year * 100 + month, UTC). */
export interface MonthlyUsage {
  key: number;
  month: number;
  requests: number;
}

/** Requests of one key in one hour (Unix time in whole hours). */
export interface HourlyUsage {
  key: number;
  hour: number;
  requests: number;
}

/** Counts admitted requests. The one writer of the usage tables. */
export class Usage {
  private readonly db: Db;
  private readonly counts = new Map<number, Count>();
  private readonly timer: NodeJS.Timeout;
  private month: number;
  private monthEnds: number;
  private hour: number;
  /** Months end when hours do, so that one comparison a request finds out about both. */
  private hourEnds: number;

  /** Reads what the present month and hour already have. Times are Unix milliseconds here and below. */
  constructor(db: Db, now: number = Date.now()) {
    this.db = db;
    this.month = monthOf(now);
    this.monthEnds = endOfMonth(now);
    this.hour = hourOf(now);
    this.hourEnds = (this.hour + 1) * HOUR_MS;
    for (const { key, requests, inHour } of this.readPresent()) {
      this.counts.set(key, { requests, written: requests, beforeHour: requests - inHour });
    }
    this.timer = setInterval(() => this.flush(), FLUSH_MS).unref();
  }

  /** Requests of a key in the month of `now` so far. */
  used(key: number, now: number): number {
    if (now >= this.hourEnds) this.beginHour(now);
    return this.counts.get(key)?.requests ?? 0;
  }

  /** Counts `requests` more of a key. */
  add(key: number, requests: number, now: number): void {
    if (now >= this.hourEnds) this.beginHour(now);
    const count = this.counts.get(key);
    if (count === undefined) this.counts.set(key, { requests, written: 0, beforeHour: 0 });
    else count.requests += requests;
  }

  /** When the present month is over. */
  get endsAt(): number {
    return this.monthEnds;
  }

  /** Writes all counts that changed, in one transaction. */
  flush(): void {
    const changed = [...this.counts].filter(([, count]) => count.requests !== count.written);
    if (changed.length === 0) return;
    const writeMonth = this.db.prepare(/* sql */ `
      INSERT INTO usage (key, month, requests) VALUES (?, ?, ?)
      ON CONFLICT (key, month) DO UPDATE SET requests = excluded.requests`);
    const writeHour = this.db.prepare(/* sql */ `
      INSERT INTO usage_hours (hour, key, requests) VALUES (?, ?, ?)
      ON CONFLICT (hour, key) DO UPDATE SET requests = excluded.requests`);
    this.db.transaction(() => {
      for (const [key, { requests, beforeHour }] of changed) {
        writeMonth.run(key, this.month, requests);
        writeHour.run(this.hour, key, requests - beforeHour);
      }
    })();
    for (const [, count] of changed) count.written = count.requests;
  }

  /** Writes what is left and ends the timer. */
  close(): void {
    clearInterval(this.timer);
    this.flush();
  }

  private beginHour(now: number): void {
    this.flush();
    this.hour = hourOf(now);
    this.hourEnds = (this.hour + 1) * HOUR_MS;
    this.db.prepare('DELETE FROM usage_hours WHERE hour <= ?').run(this.hour - HISTORY_HOURS);
    if (now >= this.monthEnds) this.beginMonth(now);
    for (const count of this.counts.values()) count.beforeHour = count.requests;
  }

  private beginMonth(now: number): void {
    this.counts.clear();
    this.month = monthOf(now);
    this.monthEnds = endOfMonth(now);
  }

  private readPresent(): { key: number; requests: number; inHour: number }[] {
    return this.db
      .prepare<[number, number], { key: number; requests: number; inHour: number }>(/* sql */ `
        SELECT usage.key, usage.requests, coalesce(usage_hours.requests, 0) AS inHour
        FROM usage LEFT JOIN usage_hours ON usage_hours.hour = ? AND usage_hours.key = usage.key
        WHERE usage.month = ?`)
      .all(this.hour, this.month);
  }
}

/** What the file knows of every key and month, newest month first; `key` narrows it to one key. */
export function readUsage(db: Db, key?: number): MonthlyUsage[] {
  return db
    .prepare<[number | null], MonthlyUsage>(
      'SELECT key, month, requests FROM usage WHERE key = coalesce(?, key) ORDER BY month DESC, key',
    )
    .all(key ?? null);
}

/** Requests by hour from `fromHour` on, oldest first; hours without any are left out. `key` narrows it to one key. */
export function readHourlyUsage(db: Db, fromHour: number, key?: number): HourlyUsage[] {
  return db
    .prepare<[number, number | null], HourlyUsage>(
      'SELECT hour, key, requests FROM usage_hours WHERE hour >= ? AND key = coalesce(?, key) ORDER BY hour, key',
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

function endOfMonth(now: number): number {
  const date = new Date(now);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1);
}

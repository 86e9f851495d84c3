/** How many requests each key was admitted in the present calendar month, kept in memory and written behind. */
import type { Db } from '../store/open.ts';

/**
 * How often counts go to the file. Half of the second that a kill may cost, so that a late timer still keeps the
 * promise.
 */
const FLUSH_MS = 500;

interface Count {
  requests: number;
  /** What of `requests` the file has. */
  written: number;
}

/** Requests of one key in one month (year * 100 + month, UTC). */
export interface MonthlyUsage {
  key: number;
  month: number;
  requests: number;
}

/** Counts admitted requests. The one writer of the usage table. */
export class Usage {
  private readonly db: Db;
  private readonly counts = new Map<number, Count>();
  private readonly timer: NodeJS.Timeout;
  private month: number;
  private monthEnds: number;

  /** Reads what the present month already has. Times are Unix milliseconds here and below. */
  constructor(db: Db, now: number = Date.now()) {
    this.db = db;
    this.month = monthOf(now);
    this.monthEnds = endOfMonth(now);
    for (const { key, requests } of this.db
      .prepare<[number], MonthlyUsage>('SELECT key, month, requests FROM usage WHERE month = ?')
      .all(this.month)) {
      this.counts.set(key, { requests, written: requests });
    }
    this.timer = setInterval(() => this.flush(), FLUSH_MS).unref();
  }

  /** Requests of a key in the month of `now` so far. */
  used(key: number, now: number): number {
    if (now >= this.monthEnds) this.beginMonth(now);
    return this.counts.get(key)?.requests ?? 0;
  }

  /** Counts `requests` more of a key. */
  add(key: number, requests: number, now: number): void {
    if (now >= this.monthEnds) this.beginMonth(now);
    const count = this.counts.get(key);
    if (count === undefined) this.counts.set(key, { requests, written: 0 });
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
    const write = this.db.prepare(/* sql */ `
      INSERT INTO usage (key, month, requests) VALUES (?, ?, ?)
      ON CONFLICT (key, month) DO UPDATE SET requests = excluded.requests`);
    this.db.transaction(() => {
      for (const [key, { requests }] of changed) write.run(key, this.month, requests);
    })();
    for (const [, count] of changed) count.written = count.requests;
  }

  /** Writes what is left and ends the timer. */
  close(): void {
    clearInterval(this.timer);
    this.flush();
  }

  private beginMonth(now: number): void {
    this.flush();
    this.counts.clear();
    this.month = monthOf(now);
    this.monthEnds = endOfMonth(now);
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

function monthOf(now: number): number {
  const date = new Date(now);
  return date.getUTCFullYear() * 100 + date.getUTCMonth() + 1;
}

function endOfMonth(now: number): number {
  const date = new Date(now);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1);
}

/** The counts of other daemons that share the keys: this month's totals in memory, all totals in the file. */
import type { Db } from '../store/open-database.ts';
import type { MonthlyUsage } from './usage-tables.ts';

export class UsageElsewhere {
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

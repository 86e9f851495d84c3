/** A daemon's own totals to be sent to PostgreSQL: at most one row per key and month, so no other bound is needed. */
import type { MonthlyUsage } from '../access/usage-tables.ts';

interface Entry extends MonthlyUsage {
  /** The part that PostgreSQL has. */
  sent: number;
}

export class UsageOutbox {
  private readonly entries = new Map<string, Entry>();
  private newest = 0;

  /** Records totals of keys.db, which only grow. */
  note(totals: readonly MonthlyUsage[]): void {
    for (const total of totals) this.put(total, this.entries.get(keyOf(total))?.sent ?? 0);
  }

  /** Records what PostgreSQL has, or is assumed to have until it can be queried. */
  noteSent(totals: readonly MonthlyUsage[]): void {
    for (const total of totals) this.put(total, total.requests);
    for (const [key, { month, requests, sent }] of this.entries)
      if (month < this.newest && requests <= sent) this.entries.delete(key);
  }

  /**
   * Reconciles one month: `own` are the totals of keys.db, `sent` those of PostgreSQL. Returns the requests that
   * PostgreSQL has and keys.db lacks, by key.
   */
  compare(own: readonly MonthlyUsage[], sent: readonly MonthlyUsage[]): MonthlyUsage[] {
    const sentOf = new Map(sent.map((total) => [total.key, total.requests]));
    const ownOf = new Map(own.map((total) => [total.key, total.requests]));
    for (const total of own) this.put(total, sentOf.get(total.key) ?? 0);
    const lost = sent
      .map((total) => ({ ...total, requests: total.requests - (ownOf.get(total.key) ?? 0) }))
      .filter(({ requests }) => requests > 0);
    this.noteSent(sent.filter(({ key, requests }) => requests > (ownOf.get(key) ?? 0)));
    return lost;
  }

  /** Some totals that PostgreSQL lacks. */
  unsent(limit: number): MonthlyUsage[] {
    const found: MonthlyUsage[] = [];
    for (const { key, month, requests, sent } of this.entries.values()) {
      if (requests > sent) found.push({ key, month, requests });
      if (found.length === limit) break;
    }
    return found;
  }

  get unsentRequests(): number {
    let sum = 0;
    for (const { requests, sent } of this.entries.values()) sum += Math.max(0, requests - sent);
    return sum;
  }

  private put({ key, month, requests }: MonthlyUsage, sent: number): void {
    const known = this.entries.get(keyOf({ key, month }))?.requests ?? 0;
    this.entries.set(keyOf({ key, month }), { key, month, requests: Math.max(known, requests), sent });
    this.newest = Math.max(this.newest, month);
  }
}

function keyOf({ key, month }: Pick<MonthlyUsage, 'key' | 'month'>): string {
  return `${month} ${key}`;
}

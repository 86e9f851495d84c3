/** The PostgreSQL table `usage`, and the totals that it still lacks. */
import type { MonthlyUsage } from '../access/usage-tables.ts';
import type { ClusterSession } from './session.ts';

/** Rows per statement. */
export const USAGE_PER_PAGE = 2_000;

/** Writes a daemon's changed totals. */
export async function sendUsage(
  session: ClusterSession,
  daemon: string,
  totals: readonly MonthlyUsage[],
): Promise<void> {
  await session.write(
    (sql) => sql`
      INSERT INTO atlas_keys.usage (key, month, daemon, requests, version)
      SELECT key, month, ${daemon}::uuid, requests, nextval('atlas_keys.change')
      FROM json_to_recordset(${JSON.stringify(totals)}::text::json) AS list(key bigint, month integer, requests bigint)
      ON CONFLICT (key, month, daemon) DO UPDATE SET requests = excluded.requests, version = excluded.version
        WHERE usage.requests < excluded.requests`,
  );
}

/**
 * The other daemons' counts of keys whose usage changed after `seen`, and the version up to which they are complete.
 */
export async function usageElsewhere(
  session: ClusterSession,
  daemon: string,
  seen: number,
): Promise<{ totals: MonthlyUsage[]; seen: number; isLast: boolean }> {
  const rows = await session.read(
    (sql) => sql<
      { key: string | null; month: number; requests: string; seen: string | null; changes: string }[]
    >`
      WITH changed AS MATERIALIZED (
        SELECT key, month, daemon, version FROM atlas_keys.usage
        WHERE version > ${seen} ORDER BY version LIMIT ${USAGE_PER_PAGE}),
      totals AS (
        SELECT key, month, sum(requests) AS requests FROM atlas_keys.usage
        JOIN (SELECT DISTINCT key, month FROM changed WHERE daemon <> ${daemon}) news USING (key, month)
        WHERE daemon <> ${daemon} GROUP BY key, month)
      SELECT totals.*, news.seen, news.changes
      FROM (SELECT max(version) AS seen, count(*) AS changes FROM changed) news LEFT JOIN totals ON true`,
  );
  return {
    totals: rows.flatMap(({ key, month, requests }) =>
      key === null ? [] : [{ key: Number(key), month, requests: Number(requests) }],
    ),
    seen: Number(rows[0]?.seen ?? seen),
    isLast: Number(rows[0]?.changes ?? 0) < USAGE_PER_PAGE,
  };
}

/** A daemon's own requests by month, over all keys. */
export async function sentMonths(session: ClusterSession, daemon: string): Promise<Map<number, number>> {
  const rows = await session.read(
    (sql) => sql<{ month: number; requests: string }[]>`
      SELECT month, sum(requests) AS requests FROM atlas_keys.usage WHERE daemon = ${daemon} GROUP BY month`,
  );
  return new Map(rows.map(({ month, requests }) => [month, Number(requests)]));
}

/** A daemon's own totals for a month. */
export async function sentUsage(
  session: ClusterSession,
  daemon: string,
  month: number,
): Promise<MonthlyUsage[]> {
  const rows = await session.read(
    (sql) => sql<{ key: string; requests: string }[]>`
      SELECT key, requests FROM atlas_keys.usage WHERE daemon = ${daemon} AND month = ${month}`,
  );
  return rows.map(({ key, requests }) => ({ key: Number(key), month, requests: Number(requests) }));
}

/** The highest version assigned so far. */
export async function lastVersion(session: ClusterSession): Promise<number> {
  const [row] = await session.read(
    (sql) => sql<{ last: string }[]>`SELECT last_value AS last FROM atlas_keys.change`,
  );
  return Number(row?.last ?? 0);
}

interface Entry extends MonthlyUsage {
  /** The part that PostgreSQL has. */
  sent: number;
}

/** The totals to be sent: at most one row per key and month, so no other bound is needed. */
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

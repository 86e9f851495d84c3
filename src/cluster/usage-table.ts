/** The PostgreSQL table `usage`. */
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

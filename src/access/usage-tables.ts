/** Reads of the usage tables. */
import type { Db } from '../store/open-database.ts';
import { readKeysFile } from './keys-file.ts';

/** Requests of one key in one month (year * 100 + month, UTC). */
export interface MonthlyUsage {
  key: number;
  month: number;
  requests: number;
}

/** Requests in one hour (Unix time in whole hours). */
interface HourlyUsage {
  hour: number;
  requests: number;
}

/** SQL: the requests of this daemon and of the daemons that share its keys. */
const ALL_USAGE = '(SELECT * FROM usage UNION ALL SELECT * FROM usage_elsewhere)';

/** Usage in the file by key and month, newest month first. `key` restricts it to one key. */
export function readUsage(db: Db, key?: number): MonthlyUsage[] {
  const read = () =>
    db
      .prepare<[number | null], MonthlyUsage>(
        `SELECT key, month, sum(requests) AS requests FROM ${ALL_USAGE} WHERE key = coalesce(?, key)
          GROUP BY key, month ORDER BY month DESC, key`,
      )
      .all(key ?? null);
  return readKeysFile(db, read);
}

/** The sum of all keys' usage by month, newest month first. `key` restricts it to one key. */
export function sumUsageByMonth(db: Db, key?: number): Omit<MonthlyUsage, 'key'>[] {
  const read = () =>
    db
      .prepare<[number | null], Omit<MonthlyUsage, 'key'>>(
        `SELECT month, sum(requests) AS requests FROM ${ALL_USAGE} WHERE key = coalesce(?, key) GROUP BY month
          ORDER BY month DESC`,
      )
      .all(key ?? null);
  return readKeysFile(db, read);
}

/**
 * The sum of all keys' usage on this daemon by hour from `fromHour`, oldest first, without empty hours. `key` restricts
 * it to one key.
 */
export function sumUsageByHour(db: Db, fromHour: number, key?: number): HourlyUsage[] {
  const read = () =>
    db
      .prepare<[number, number | null], HourlyUsage>(
        'SELECT hour, sum(requests) AS requests FROM usage_hours WHERE hour >= ? AND key = coalesce(?, key) ' +
          'GROUP BY hour ORDER BY hour',
      )
      .all(fromHour, key ?? null);
  return readKeysFile(db, read);
}

/** This file's own requests by month, over all keys. */
export function ownMonths(db: Db): Map<number, number> {
  const rows = db
    .prepare<[], Omit<MonthlyUsage, 'key'>>(
      'SELECT month, sum(requests) AS requests FROM usage GROUP BY month',
    )
    .all();
  return new Map(rows.map(({ month, requests }) => [month, requests]));
}

/** This file's own requests in a month. */
export function ownUsage(db: Db, month: number): MonthlyUsage[] {
  return db
    .prepare<[number], MonthlyUsage>('SELECT key, month, requests FROM usage WHERE month = ?')
    .all(month);
}

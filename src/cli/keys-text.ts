/** Keys and their usage as text. A key itself is shown only when it was just issued. */

import { monthText } from '../access/key-json.ts';
import type { IssuedKey, KeyRecord } from '../access/keys.ts';
import type { MonthlyUsage } from '../access/usage.ts';
import { formatTable } from './format.ts';

export function issuedText({ key, record }: IssuedKey): string {
  return `key ${record.id} (${record.name}, tier ${record.tier}), shown this once:\n${key}`;
}

export function recordsTable(records: KeyRecord[]): string {
  return formatTable(
    ['ID', 'NAME', 'TIER', 'KEY', 'CREATED (UTC)', 'STATE'],
    records.map((key) => [
      String(key.id),
      key.name,
      key.tier,
      `${key.hint}...`,
      formatMinute(key.createdAt),
      stateOf(key),
    ]),
  );
}

/** One key in one month, as JSON shows it. */
export interface UsageRow {
  month: string;
  id: number;
  name: string;
  requests: number;
}

/** Joins counts with the names of their keys. */
export function usageRows(usage: MonthlyUsage[], records: KeyRecord[]): UsageRow[] {
  const names = new Map(records.map((record) => [record.id, record.name]));
  return usage.map(({ key, month, requests }) => ({
    month: monthText(month),
    id: key,
    name: names.get(key) ?? '',
    requests,
  }));
}

export function usageTable(rows: UsageRow[]): string {
  return formatTable(
    ['MONTH', 'ID', 'NAME', 'REQUESTS'],
    rows.map((row) => [row.month, String(row.id), row.name, row.requests]),
  );
}

function stateOf({ revokedAt, rotatedAt }: KeyRecord): string {
  if (revokedAt !== null) return `revoked ${formatMinute(revokedAt)}`;
  return rotatedAt === null ? 'valid' : `valid, rotated ${formatMinute(rotatedAt)}`;
}

/** Date and time to the minute, UTC. */
function formatMinute(ms: number): string {
  return new Date(ms).toISOString().slice(0, 16).replace('T', ' ');
}

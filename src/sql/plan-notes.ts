/** What a query says before it runs, in the words of every interface. */
import type { TablePlan } from './session.ts';
import { REAL } from './tables/rows.ts';

/** Which export has the rows of a table. */
const EXPORTS: Record<string, string> = {
  named_transfers: 'transfers',
  fundings: 'wallets',
  first_buyers: 'transfers',
  trades: 'transfers',
  named_trades: 'transfers',
};

/** What the author of a query is told where it reads whole tables; null where it reads none. */
export function scanNote(plan: readonly TablePlan[]): string | null {
  const scans = plan.filter(({ scannedRows }) => scannedRows !== null);
  if (scans.length === 0) return null;
  const parts = scans.map(
    ({ table, alias, scannedRows }) =>
      `${table}${alias === table ? '' : ` ${alias}`}, about ${(scannedRows ?? 0).toLocaleString('en-US')} rows`,
  );
  const names = [...new Set(scans.map(({ table }) => EXPORTS[table] ?? table))];
  const reason = scans.some(({ by }) => by.includes('tx_hash'))
    ? 'no index has transactions by hash, so name the block or a block range as well, such as block_number = 17'
    : 'no condition leads to an index';
  return `scans ${parts.join(', and ')}: ${reason}; for analyses of whole tables see ${names
    .map((name) => `"atlas-node export ${name}"`)
    .join(', ')}`;
}

/** The note on a query that orders or compares amounts as text; null for any other query. */
export function textNote(plan: readonly TablePlan[]): string | null {
  const columns = [...new Set(plan.flatMap(({ asText }) => asText))];
  if (columns.length === 0) return null;
  return (
    `orders or compares ${columns.join(' and ')} as text, where 9 comes after 10, and any text after any number: ` +
    `write ${columns.map((column) => column + REAL).join(' and ')}`
  );
}

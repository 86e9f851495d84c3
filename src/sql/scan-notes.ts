/** What a query that reads whole tables says before it runs. */

/** How a place of the query that names a table reads it. */
export interface TablePlan {
  table: string;
  alias: string;
  /** The columns by which rows are found, in order; empty for a scan. */
  by: string[];
  /** About how many rows a scan reads; null where an index leads to the rows. */
  scannedRows: number | null;
}

/** Which export has the rows of a table. */
const EXPORTS: Record<string, string> = {
  named_transfers: 'transfers',
  fundings: 'wallets',
  first_buyers: 'transfers',
  trades: 'transfers',
  named_trades: 'transfers',
};

/** One note for all tables that it reads whole, none where it reads none. */
export function scanNotes(plan: readonly TablePlan[]): string[] {
  const scans = plan.filter(({ scannedRows }) => scannedRows !== null);
  if (scans.length === 0) return [];
  const parts = scans.map(
    ({ table, alias, scannedRows }) =>
      `${table}${alias === table ? '' : ` ${alias}`}, about ${(scannedRows ?? 0).toLocaleString('en-US')} rows`,
  );
  const names = [...new Set(scans.map(({ table }) => EXPORTS[table] ?? table))];
  const reason = scans.some(({ by }) => by.includes('tx_hash'))
    ? 'no index has transactions by hash, so name the block or a block range as well, such as block_number = 17'
    : 'no condition leads to an index';
  const note = `scans ${parts.join(', and ')}: ${reason}; for analyses of whole tables see ${names
    .map((name) => `"atlas-node export ${name}"`)
    .join(', ')}`;
  return [note];
}

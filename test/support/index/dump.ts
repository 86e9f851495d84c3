/** The whole content of an index file as text lines, to compare two files row by row. */
import { openDatabase } from '../../../src/store/open-database.ts';

const INDEX_TABLES = [
  'chain',
  'index_rules',
  'blocks',
  'time_falls',
  'block_parties',
  'block_gaps',
  'transfers',
  'native_peaks',
  'wallets',
  'addresses',
  'fundings',
  'activity',
  'summed_histories',
  'counterparty_sums',
  'tokens',
  'holdings',
  'holding_peaks',
  'first_buyers',
  'token_activity',
  'token_mints',
  'derived',
  'trade_rules',
  'trade_sums',
  'traded_tokens',
  'trade_peaks',
];

export function dumpIndex(path: string): string[] {
  const db = openDatabase(path, { readonly: true });
  try {
    return INDEX_TABLES.flatMap((table) =>
      db
        .prepare<[], Record<string, unknown>>(`SELECT * FROM ${table} ORDER BY 1, 2`)
        .all()
        .map(
          (row) =>
            `${table} ${Object.entries(row)
              .map(([name, value]) => `${name}=${Buffer.isBuffer(value) ? value.toString('hex') : value}`)
              .join(' ')}`,
        ),
    );
  } finally {
    db.close();
  }
}

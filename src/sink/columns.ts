/** The columns that the sink writes, in the order in which batch-writer.ts encodes them. The operator may add others. */

export const COLUMNS = {
  blocks: { number: 'bigint', hash: 'bytea', timestamp: 'timestamp with time zone', last_transfer: 'bigint' },
  transfers: {
    id: 'bigint',
    block_number: 'bigint',
    block_timestamp: 'timestamp with time zone',
    tx_hash: 'bytea',
    event_index: 'integer',
    log_index: 'integer',
    transfer_type: 'text',
    from_address: 'bytea',
    to_address: 'bytea',
    token_address: 'bytea',
    amount: 'numeric',
    token_id: 'numeric',
  },
  tokens: {
    id: 'bigint',
    token_address: 'bytea',
    token_type: 'text',
    name: 'text',
    symbol: 'text',
    decimals: 'integer',
    first_block: 'bigint',
    first_timestamp: 'timestamp with time zone',
    settled: 'boolean',
  },
  wallets: {
    address: 'bytea',
    first_block: 'bigint',
    first_transfer: 'bigint',
    funding_transfer: 'bigint',
    funding_block: 'bigint',
  },
} as const satisfies Record<string, Record<string, string>>;

export type SinkTable = keyof typeof COLUMNS;

/** For a COPY or an INSERT. */
export function columnList(table: SinkTable): string {
  return Object.keys(COLUMNS[table]).join(', ');
}

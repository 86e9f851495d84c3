/**
 * The columns that the sink writes, in the order in which batch-writer.ts encodes them. The operator may add others.
 */
import { TRADE_COLUMNS, type TradeColumn } from '../model/trade-columns.ts';
import { type ColumnField, columnsOf } from '../model/transfer-fields.ts';

export const TRANSFER_FIELDS = columnsOf('postgres');

const TYPES: Record<(ColumnField | TradeColumn)['type'], string> = {
  id: 'bigint',
  block: 'bigint',
  position: 'integer',
  integer: 'integer',
  hash: 'bytea',
  address: 'bytea',
  kind: 'text',
  units: 'numeric',
  number: 'numeric',
  time: 'timestamp with time zone',
  legs: 'jsonb',
  flag: 'boolean',
};

export const COLUMNS = {
  blocks: { number: 'bigint', hash: 'bytea', timestamp: 'timestamp with time zone', last_transfer: 'bigint' },
  transfers: Object.fromEntries(TRANSFER_FIELDS.map(({ column, type }) => [column.name, TYPES[type]])),
  trades: Object.fromEntries(TRADE_COLUMNS.map(({ name, type }) => [name, TYPES[type]])),
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

/**
 * The tables that the sink writes, in their own schema: version 3. docs/analytics.md documents them for their readers.
 * A released schema is never edited alone: a change needs a migration from each earlier version.
 */

import { TRADE_COLUMNS } from '../model/trade-columns.ts';
import { COLUMNS, type SinkTable, TRANSFER_FIELDS } from './columns.ts';

export const SINK_SCHEMA_VERSION = 3;

/** Above `trades_block` the rows of trades are missing, or told by earlier lists. */
const TRADE_STATE = [
  'trades_block bigint', // last block whose trades are written, null while there is none
  "trade_rules text NOT NULL DEFAULT ''", // lists that those are told by (model/trade-rules.ts)
  'uncertain_blocks bigint NOT NULL DEFAULT 0', // blocks up to trades_block of which the index lacks transfers
];

const SINK = /* sql */ `
-- One row: what these tables hold, and which sink may write them.
CREATE TABLE sink (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  version integer NOT NULL,             -- of this schema
  chain_id bigint NOT NULL,
  start_block bigint NOT NULL,          -- first block of the index: transfer ids count from there
  from_block bigint NOT NULL,           -- first block of these tables
  partition_blocks bigint NOT NULL,     -- blocks per partition of transfers and of trades
  wallets boolean NOT NULL,             -- whether the table wallets is filled
  head_block bigint,                    -- last block written, null while there is none
  mark text NOT NULL DEFAULT '0',       -- of the index then: which of its blocks were repaired (model/rewrites.ts)
  ${TRADE_STATE.join(',\n  ')},
  fence bigint NOT NULL,                -- counts the sinks so far: each writes only while this is its own number
  holder text NOT NULL,                 -- host and process of the sink that wrote last
  updated_at timestamptz NOT NULL       -- of its last commit
);
`;

const BLOCKS = /* sql */ `
-- Every block from sink.from_block on, without gaps.
CREATE TABLE blocks (
  number bigint PRIMARY KEY,
  hash bytea NOT NULL,
  timestamp timestamptz NOT NULL,
  last_transfer bigint NOT NULL         -- highest transfers.id up to and with this block
);
CREATE INDEX blocks_timestamp ON blocks (timestamp);
`;

const transferColumns = TRANSFER_FIELDS.map(
  (field) =>
    `${field.column.name} ${COLUMNS.transfers[field.column.name]}${'nullable' in field ? '' : ' NOT NULL'}`,
);

const TRANSFERS = /* sql */ `
-- Every transfer of these blocks, with the fields of model/transfer-fields.ts. Partitioned by ranges of blocks.
CREATE TABLE transfers (
  ${transferColumns.join(',\n  ')},
  PRIMARY KEY (block_number, id)
) PARTITION BY RANGE (block_number);
`;

const tradeColumns = TRADE_COLUMNS.map(
  (column) => `${column.name} ${COLUMNS.trades[column.name]}${'nullable' in column ? '' : ' NOT NULL'}`,
);

const TRADES = /* sql */ `
-- Every trade of these blocks up to sink.trades_block, with the columns of model/trade-columns.ts. Partitioned alike.
CREATE TABLE trades (
  ${tradeColumns.join(',\n  ')},
  PRIMARY KEY (block_number, first_transfer, wallet_address)
) PARTITION BY RANGE (block_number);
`;

const TOKENS = /* sql */ `
-- Every token contract whose first transfer the index has up to the last block.
CREATE TABLE tokens (
  id bigint PRIMARY KEY,                -- in order of first appearance on the chain
  token_address bytea NOT NULL UNIQUE,
  token_type text NOT NULL,             -- erc20, erc721 or erc1155: that of its first transfer
  name text,                            -- name, symbol and decimals from the contract, null while unknown
  symbol text,
  decimals integer,
  first_block bigint NOT NULL,
  first_timestamp timestamptz NOT NULL,
  settled boolean NOT NULL              -- name, symbol and decimals will not change any more
);
CREATE INDEX tokens_unsettled ON tokens (id) WHERE NOT settled;
CREATE INDEX tokens_symbol ON tokens (symbol);
CREATE INDEX tokens_first_block ON tokens (first_block);
`;

const WALLETS = /* sql */ `
-- Filled where sink.postgres.wallets is set: one row per address whose first transfer or first funding lies in these
-- blocks, with both as of the last block.
CREATE TABLE wallets (
  address bytea PRIMARY KEY,
  first_block bigint NOT NULL,          -- of its first transfer
  first_transfer bigint NOT NULL,       -- transfers.id
  funding_transfer bigint,              -- transfers.id of its first funding: direct, else internal; null without one
  funding_block bigint                  -- of funding_transfer
);
CREATE INDEX wallets_first_block ON wallets (first_block);
CREATE INDEX wallets_funding_block ON wallets (funding_block);
`;

/** Bytes as text; what a view adds follows the column that it is about. */
function readable(
  table: 'transfers' | 'trades',
  names: readonly string[],
  added: Record<string, string[]>,
): string {
  const types: Record<string, string | undefined> = COLUMNS[table];
  const columns = names.flatMap((name) => {
    const text = types[name] === 'bytea' ? `'0x' || encode(${name}, 'hex') AS ${name}` : name;
    return [text, ...(added[name] ?? [])];
  });
  return columns.join(', ');
}

const readableTransfers = readable(
  'transfers',
  TRANSFER_FIELDS.map(({ column }) => column.name),
  { token_address: ['token_symbol', 'quantity'] },
);

const readableTrades = readable(
  'trades',
  TRADE_COLUMNS.map(({ name }) => name),
  {
    token_address: ['token_symbol', 'token_quantity'],
    quote_address: ['quote_symbol', 'quote_quantity', 'price'],
  },
);

const VIEWS = /* sql */ `
-- Transfers with the token's name, and the amount in whole coins or tokens where the decimals are known. Multiplied by
-- a power of ten, which is exact: a division would round to 16 digits.
CREATE VIEW named_transfers AS
  SELECT t.*, k.name AS token_name, k.symbol AS token_symbol, k.decimals AS token_decimals,
    CASE
      WHEN t.token_address IS NULL THEN t.amount * 1e-18::numeric
      WHEN t.transfer_type = 'erc20' THEN t.amount * ('1e-' || k.decimals)::numeric
      ELSE t.amount
    END AS quantity
  FROM transfers t LEFT JOIN tokens k ON k.token_address = t.token_address;

-- The same with addresses and hashes as text, for eyes and tools that do not know bytea. Filter on the bytea columns of
-- named_transfers instead where speed counts: no index covers the text.
CREATE VIEW readable_transfers AS
  SELECT ${readableTransfers}
  FROM named_transfers;
`;

/** Whole coins or tokens of an amount of trades; ERC-721 and ERC-1155 count pieces. */
const quantity = (side: 'token' | 'quote', names: string) => /* sql */ `CASE t.${side}_type
      WHEN 'native' THEN t.${side}_amount * 1e-18::numeric
      WHEN 'erc20' THEN t.${side}_amount * ('1e-' || ${names}.decimals)::numeric
      ELSE t.${side}_amount
    END`;

const TRADE_VIEWS = /* sql */ `
-- Trades with names and amounts in whole coins or tokens, and the price of one token in the quote, to 18 digits.
CREATE VIEW named_trades AS
  SELECT q.*, round(q.quote_quantity / nullif(q.token_quantity, 0), 18) AS price
  FROM (
    SELECT t.*, k.symbol AS token_symbol, k.decimals AS token_decimals, ${quantity('token', 'k')} AS token_quantity,
      s.symbol AS quote_symbol, s.decimals AS quote_decimals, ${quantity('quote', 's')} AS quote_quantity
    FROM trades t LEFT JOIN tokens k ON k.token_address = t.token_address
      LEFT JOIN tokens s ON s.token_address = t.quote_address
  ) q;

-- The same with addresses and hashes as text, for display.
CREATE VIEW readable_trades AS
  SELECT ${readableTrades}
  FROM named_trades;
`;

/** Everything except the row of `sink` and the partitions. */
export const SINK_SCHEMA = [SINK, BLOCKS, TRANSFERS, TRADES, TOKENS, WALLETS, VIEWS, TRADE_VIEWS].join('');

/** The SQL from each version to the next. Append only. */
export const SINK_MIGRATIONS = [
  /* sql */ `ALTER TABLE sink ADD COLUMN mark text NOT NULL DEFAULT '0'; UPDATE sink SET version = 2;`,
  // Sinks fill the new table up to the last block while they follow the index.
  /* sql */ `${TRADES} ${TRADE_VIEWS}
    ALTER TABLE sink ${TRADE_STATE.map((column) => `ADD COLUMN ${column}`).join(', ')};
    UPDATE sink SET version = 3;`,
];

/** The tables whose rows are partitioned by ranges of blocks. */
export const PARTITIONED = ['transfers', 'trades'] as const satisfies readonly SinkTable[];
export type PartitionedTable = (typeof PARTITIONED)[number];

/** The partition of a table that starts at a block. */
export function partitionName(table: PartitionedTable, first: number): string {
  return `${table}_${first}`;
}

/**
 * Creates a partition without blocking readers: attaching locks the parent table only against other DDL, whereas CREATE
 * TABLE ... PARTITION OF would wait for every running query and make all later ones wait. An identity column of the
 * operator belongs to the parent table.
 */
export function createPartition(table: PartitionedTable, first: number, blocks: number): string {
  const name = partitionName(table, first);
  return /* sql */ `
    CREATE TABLE ${name} (LIKE ${table} INCLUDING ALL EXCLUDING IDENTITY);
    ALTER TABLE ${table} ATTACH PARTITION ${name} FOR VALUES FROM (${first}) TO (${first + blocks});`;
}

export interface PartitionIndex {
  suffix: string;
  /** The definition after USING, as PostgreSQL prints it: it also tells whether a table has the index. */
  as: string;
}

/** Rows are stored in time order, so a summary per range of pages suffices. */
const TIME_INDEX: PartitionIndex = { suffix: 'time', as: 'brin (block_timestamp)' };
const TOKEN_INDEX: PartitionIndex = {
  suffix: 'token',
  as: 'btree (token_address, block_number) WHERE (token_address IS NOT NULL)',
};

/**
 * The indexes of a partition, for queries by wallet, token and time. Far behind the head they are built once the
 * partition is full, in a fraction of the row-by-row time.
 */
export const PARTITION_INDEXES: Readonly<Record<PartitionedTable, PartitionIndex[]>> = {
  transfers: [
    { suffix: 'from', as: 'btree (from_address, block_number)' },
    { suffix: 'to', as: 'btree (to_address, block_number)' },
    TOKEN_INDEX,
    TIME_INDEX,
  ],
  trades: [
    { suffix: 'wallet', as: 'btree (wallet_address, block_number)' },
    TOKEN_INDEX,
    TIME_INDEX,
    // Almost empty; finds the rows of blocks that prove complete later.
    { suffix: 'uncertain', as: 'btree (block_number) WHERE uncertain' },
  ],
};

/**
 * The tables that the sink writes, in their own schema: version 2. docs/analytics.md documents them for their readers.
 * A released schema is never edited alone: a change needs a migration from each earlier version.
 */

import { COLUMNS, TRANSFER_FIELDS } from './columns.ts';

export const SINK_SCHEMA_VERSION = 2;

const SINK = /* sql */ `
-- One row: what these tables hold, and which sink may write them.
CREATE TABLE sink (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  version integer NOT NULL,             -- of this schema
  chain_id bigint NOT NULL,
  start_block bigint NOT NULL,          -- first block of the index: transfer ids count from there
  from_block bigint NOT NULL,           -- first block of these tables
  partition_blocks bigint NOT NULL,     -- blocks per partition of transfers
  wallets boolean NOT NULL,             -- whether the table wallets is filled
  head_block bigint,                    -- last block written, null while there is none
  mark text NOT NULL DEFAULT '0',       -- of the index then: which of its blocks were repaired (model/rewrites.ts)
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

/** Bytes as text; symbol and quantity follow the token. */
const readableColumns = TRANSFER_FIELDS.flatMap(({ column: { name } }) => {
  const isBytes = COLUMNS.transfers[name] === 'bytea';
  const column = isBytes ? `'0x' || encode(${name}, 'hex') AS ${name}` : name;
  return name === 'token_address' ? [column, 'token_symbol', 'quantity'] : [column];
});

const VIEWS = /* sql */ `
-- Transfers with the token's name, and the amount in whole coins or tokens where the decimals are known. Multiplied by a
-- power of ten, which is exact: a division would round to 16 digits.
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
  SELECT ${readableColumns.join(', ')}
  FROM named_transfers;
`;

/** Everything except the row of `sink` and the partitions. */
export const SINK_SCHEMA = [SINK, BLOCKS, TRANSFERS, TOKENS, WALLETS, VIEWS].join('');

/** The SQL from each version to the next. Append only. */
export const SINK_MIGRATIONS = [
  /* sql */ `ALTER TABLE sink ADD COLUMN mark text NOT NULL DEFAULT '0'; UPDATE sink SET version = 2;`,
];

/** The partition of `transfers` that starts at a block. */
export function partitionName(first: number): string {
  return `transfers_${first}`;
}

/**
 * Creates a partition without blocking readers: attaching locks the parent table only against other DDL, whereas CREATE
 * TABLE ... PARTITION OF would wait for every running query and make all later ones wait. An identity column of the
 * operator belongs to the parent table.
 */
export function createPartition(first: number, blocks: number): string {
  const name = partitionName(first);
  return /* sql */ `
    CREATE TABLE ${name} (LIKE transfers INCLUDING ALL EXCLUDING IDENTITY);
    ALTER TABLE transfers ATTACH PARTITION ${name} FOR VALUES FROM (${first}) TO (${first + blocks});`;
}

export interface PartitionIndex {
  suffix: string;
  /** The definition after USING, as PostgreSQL prints it: it also tells whether a table has the index. */
  as: string;
}

/**
 * The indexes of a partition, for queries by wallet, token and time. Far behind the head they are built once the
 * partition is full, in a fraction of the row-by-row time.
 */
export const PARTITION_INDEXES: PartitionIndex[] = [
  { suffix: 'from', as: 'btree (from_address, block_number)' },
  { suffix: 'to', as: 'btree (to_address, block_number)' },
  { suffix: 'token', as: 'btree (token_address, block_number) WHERE (token_address IS NOT NULL)' },
  // Rows are stored in time order, so a summary per range of pages suffices.
  { suffix: 'time', as: 'brin (block_timestamp)' },
];

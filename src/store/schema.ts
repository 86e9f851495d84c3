/**
 * The tables of `index.db`. Every number inside the program is an integer id; addresses, hashes and amounts are
 * bytes. Ids are dense and given in the order of first appearance on the chain, so the same chain always gives the
 * same rows, however it was cut into commits; a rollback removes ids from the end.
 *
 * A column with AS is computed when it is read and takes no room; no index knows it.
 *
 * Amounts are the shortest big-endian bytes of a non-negative integer (zero is an empty blob); balances are
 * order-preserving signed bytes (lib/signed.ts).
 */

/** wallets.id of the zero address, whose row is there from the start. All other ids count from 1. */
export const ZERO_WALLET = 0;

/** `PRAGMA application_id` of an index file: "atls". */
export const INDEX_APPLICATION_ID = 0x61746c73;

/** Bytes of an address. */
export const ADDRESS_BYTES = 20;

/** Bytes of an address that its wallet is found by: of 100 million addresses some 4,500 share them with another. */
export const ADDRESS_PREFIX_BYTES = 5;

const CHAIN = /* sql */ `
-- One row: what this index is of.
CREATE TABLE chain (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  chain_id INTEGER NOT NULL,
  start_block INTEGER NOT NULL          -- first block of the contiguous range that is indexed
);

-- Every indexed block, without gaps from chain.start_block on.
CREATE TABLE blocks (
  number INTEGER PRIMARY KEY,
  hash BLOB NOT NULL,                   -- 32 bytes; the parent's is in the row before
  timestamp INTEGER NOT NULL,           -- Unix seconds
  last_transfer INTEGER NOT NULL,       -- highest transfers.id up to and with this block, 0 if none
  last_wallet INTEGER NOT NULL          -- highest wallets.id up to and with this block, 0 if none
);
-- From a transfer to its block: the lowest number whose last_transfer reaches the id.
CREATE INDEX blocks_by_transfer ON blocks (last_transfer, number);
`;

export const UNTRACED_BLOCKS = /* sql */ `
-- The indexed blocks that were read without traces, so that their internal transfers are missing: ranges, written with
-- the blocks, none beside another. Of blocks from before this table existed it is not known, and none is in here.
CREATE TABLE untraced_blocks (
  first INTEGER PRIMARY KEY,
  last INTEGER NOT NULL
);
`;

/** transfers.token_kind of a token transfer; for a native transfer it is the kind. */
export function packTokenKind(token: number, kind: number): number {
  return token * 8 + kind;
}

export const TRANSFERS = /* sql */ `
-- Every transfer in chain order; id is dense from 1 and is the pagination key of the API.
CREATE TABLE transfers (
  id INTEGER PRIMARY KEY,
  tx INTEGER NOT NULL,                  -- on a transaction's first transfer its hash (32 bytes, a blob), on the others
                                        -- the distance back to that first one
  sender INTEGER NOT NULL,              -- wallets.id
  receiver INTEGER NOT NULL,            -- wallets.id
  token_kind INTEGER NOT NULL,          -- token * 8 + kind
  amount BLOB,                          -- wei or the token's units; null for ERC-721, whose amount is 1
  token_number BLOB,                    -- the ERC-721 or ERC-1155 token id (big-endian, shortest), else null
  log_index INTEGER,                    -- position of the log in its block, null for native
  kind INTEGER AS (token_kind & 7),     -- types.ts TransferKind
  token INTEGER AS (nullif(token_kind >> 3, 0))  -- tokens.id, null for native
);
`;

/** What counters and sums follow from: the STORED_TRANSFER columns of a row of `transfers`. */
export interface StoredTransfer {
  id: number;
  tx: Buffer | number;
  sender: number;
  receiver: number;
  kind: number;
  token: number | null;
  amount: Buffer | null;
}

export const STORED_TRANSFER = 'id, tx, sender, receiver, kind, token, amount';

const NATIVE_PEAKS = /* sql */ `
-- The largest native transfer of each span of transfers: a search for large ones skips the spans without any.
-- A span without native transfers has no row.
CREATE TABLE native_peaks (
  level INTEGER NOT NULL,               -- 1: spans of 256 transfers, 2: spans of 65,536
  span INTEGER NOT NULL,                -- transfers.id >> (8 * level)
  peak BLOB NOT NULL,                   -- its largest amount, wei, in the order-preserving form
  PRIMARY KEY (level, span)
) WITHOUT ROWID;
`;

export const WALLETS = /* sql */ `
-- One row per address that ever stood in a transfer, as sender, receiver or token contract. The counters equal
-- what listing the transfers gives; the facts name transfers.id.
CREATE TABLE wallets (
  id INTEGER PRIMARY KEY,
  address BLOB NOT NULL,                -- 20 bytes
  transfers INTEGER NOT NULL,           -- transfers this wallet takes part in; one to itself counts once
  transactions INTEGER NOT NULL,        -- distinct transactions among them
  tokens INTEGER NOT NULL,              -- distinct token contracts among them
  token_transfers INTEGER NOT NULL,     -- those that carry a token
  internal_received INTEGER NOT NULL,   -- internal native transfers received
  native_received BLOB NOT NULL,        -- wei, direct and internal
  native_sent BLOB NOT NULL,
  funder INTEGER,                       -- sender of first_direct, or if there is none of first_internal
  funded INTEGER NOT NULL,              -- wallets whose funder this wallet is
  first_transfer INTEGER,               -- its first transfer, null for a token contract without transfers of its own
  -- Further facts, null without one, as distances from an earlier one: most are 0, which takes no room.
  last_after INTEGER,                   -- of last_transfer from first_transfer
  first_direct_after INTEGER,           -- of first_direct from first_transfer
  latest_direct_after INTEGER,          -- of latest_direct from first_direct
  first_internal_after INTEGER,         -- of first_internal from first_transfer
  latest_internal_after INTEGER,        -- of latest_internal from first_internal
  recent BLOB NOT NULL,                 -- its newest transfers, packed (store/activity.ts); older ones are in activity
  last_transfer INTEGER AS (first_transfer + last_after),
  -- First and newest direct native transfer received from another, not from zero, and the same among internal ones.
  first_direct INTEGER AS (first_transfer + first_direct_after),
  latest_direct INTEGER AS (first_direct + latest_direct_after),
  first_internal INTEGER AS (first_transfer + first_internal_after),
  latest_internal INTEGER AS (first_internal + latest_internal_after),
  funding INTEGER AS (coalesce(first_direct, first_internal)) -- the transfer of funder
);
`;

export const ADDRESSES = /* sql */ `
-- From the beginning of an address to a wallet, whose row tells whether it is that one (store/address-table.ts).
CREATE TABLE addresses (
  key BLOB PRIMARY KEY,                 -- the first ${ADDRESS_PREFIX_BYTES} bytes; all 20 where an earlier wallet begins with those
  wallet INTEGER NOT NULL
) WITHOUT ROWID;
`;

export const FUNDINGS = /* sql */ `
-- The first fundings by each funder. The receiver of one is the wallet whose funding it is.
CREATE TABLE fundings (
  funder INTEGER NOT NULL,              -- wallets.id
  funding INTEGER NOT NULL,             -- transfers.id
  PRIMARY KEY (funder, funding)
) WITHOUT ROWID;
`;

const ACTIVITY = /* sql */ `
-- The older transfers of a wallet in packed runs of ENTRIES_PER_RUN entries; never changed once written.
CREATE TABLE activity (
  wallet INTEGER NOT NULL,
  first_transfer INTEGER NOT NULL,      -- id of the run's first entry
  entries BLOB NOT NULL,
  PRIMARY KEY (wallet, first_transfer)
) WITHOUT ROWID;
`;

const TOKENS = /* sql */ `
-- One row per token contract, whatever it emits.
CREATE TABLE tokens (
  id INTEGER PRIMARY KEY,
  wallet INTEGER NOT NULL,              -- wallets.id of the contract's address
  transfers INTEGER NOT NULL,
  holders INTEGER NOT NULL,             -- wallets with a balance above zero, the zero address left out
  wallets INTEGER NOT NULL,             -- distinct addresses in its transfers, the zero address left out
  buyers INTEGER NOT NULL,              -- rows in first_buyers
  first_transfer INTEGER NOT NULL,
  kind INTEGER NOT NULL                 -- Kind of its first transfer
);
CREATE UNIQUE INDEX tokens_by_wallet ON tokens (wallet);

-- What the transfers of a token leave with each address: an estimate of its balance.
CREATE TABLE holdings (
  token INTEGER NOT NULL,
  wallet INTEGER NOT NULL,
  transfers INTEGER NOT NULL,           -- transfers of the token with this address; one to itself counts once
  balance BLOB NOT NULL,                -- signed; ERC-721 counts tokens, ERC-1155 sums units over ids
  PRIMARY KEY (token, wallet)
) WITHOUT ROWID;

-- The first receivers of a non-zero amount of each token, MAX_FIRST_BUYERS of them at most.
CREATE TABLE first_buyers (
  token INTEGER NOT NULL,
  transfer INTEGER NOT NULL,            -- the transfer that made the wallet a holder
  wallet INTEGER NOT NULL,
  PRIMARY KEY (token, transfer)
) WITHOUT ROWID;
`;

export const TOKEN_QUALITY = /* sql */ `
-- How far a token's balances follow from its transfers, as found by asking the node now and then (store/quality.ts).
-- Like token_metadata it does not follow from the indexed chain alone. No row: not examined yet.
CREATE TABLE token_quality (
  token INTEGER PRIMARY KEY,            -- tokens.id
  quality INTEGER NOT NULL,             -- store/quality.ts Quality
  block INTEGER NOT NULL,               -- head of the index when it was last examined
  offsets TEXT NOT NULL                 -- 'wallet:offset ...': balanceOf less the index, when found so first
);
-- The longest not examined, and those a rollback makes void.
CREATE INDEX token_quality_by_block ON token_quality (block);
`;

export const TOKEN_METADATA = /* sql */ `
-- What token contracts say of themselves (store/token-metadata.ts).
CREATE TABLE token_metadata (
  address BLOB PRIMARY KEY,             -- 20 bytes
  name TEXT,                            -- each null when the contract does not say it in a usable form
  symbol TEXT,
  decimals INTEGER,
  tries INTEGER NOT NULL,               -- how often the contract was asked
  retry_at INTEGER                      -- Unix seconds from which it is to be asked again, null for never
) WITHOUT ROWID;
CREATE INDEX token_metadata_by_retry ON token_metadata (retry_at) WHERE retry_at IS NOT NULL;
`;

/** All tables of a new file. */
export const SCHEMA = [
  CHAIN,
  UNTRACED_BLOCKS,
  TRANSFERS,
  NATIVE_PEAKS,
  WALLETS,
  ADDRESSES,
  FUNDINGS,
  ACTIVITY,
  TOKENS,
  TOKEN_QUALITY,
  TOKEN_METADATA,
].join('');

/** How many first receivers are kept per token: the maximum `limit` of token_first_buyers. */
export const MAX_FIRST_BUYERS = 200;

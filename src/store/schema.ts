/**
 * The tables of `index.db`: schema 17, one CREATE text per table. Rows refer to each other by integer id; addresses,
 * hashes and amounts are bytes. Ids are dense and assigned in the order of first appearance on the chain, so the same
 * chain always gives the same rows, however it was cut into commits. A rollback removes ids from the end.
 *
 * A column with AS is computed on read and takes no space; no index covers it.
 *
 * A released schema is never edited alone: a change also needs a migration (migrations/).
 *
 * Amounts are the shortest big-endian bytes of a non-negative integer (zero is an empty blob); balances are
 * order-preserving signed bytes (lib/signed.ts).
 */

import { isSemiFungible, movesOne, TOKEN_KINDS, TransferKind } from '../model/transfer-kind.ts';
import { DERIVED } from './schema-derived.ts';
import { TOKEN_METADATA, TOKEN_QUALITY, WALLET_CODE } from './schema-node-facts.ts';
import { BLOCK_PARTIES } from './schema-parties.ts';
import { TRADES } from './schema-trades.ts';

/** wallets.id of the zero address, whose row exists from the start. All other ids count from 1. */
export const ZERO_WALLET = 0;

/** `PRAGMA application_id` of an index file: "atli". */
export const INDEX_APPLICATION_ID = 0x61746c69;

/** The application id of files from before the first release, which had schemas of their own. */
export const DEVELOPMENT_APPLICATION_ID = 0x61746c73;

/** Bytes of an address. */
export const ADDRESS_BYTES = 20;

/** Leading bytes of an address that the lookup table stores: of 100 million addresses some 4,500 share them. */
export const ADDRESS_PREFIX_BYTES = 5;

const CHAIN = /* sql */ `
-- One row: the indexed chain.
CREATE TABLE chain (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  chain_id INTEGER NOT NULL,
  start_block INTEGER NOT NULL          -- first block of the contiguous indexed range
);

`;

const INDEX_RULES = /* sql */ `
-- One row: what counts as a transfer in this index (model/index-rules.ts). Lists are addresses of 40 hex digits, sorted
-- and separated by spaces.
CREATE TABLE index_rules (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  version INTEGER NOT NULL,
  monad INTEGER,                        -- 1 for a chain with Monad's system transactions and staking, else 0
  wrapped_native TEXT,                  -- this and monad: null in an index of an earlier release until it is opened
  native_contracts TEXT NOT NULL,
  unindexed_erc20 TEXT NOT NULL,
  checksum INTEGER NOT NULL             -- of the row, here and below (store/checksum.ts)
);
`;

const BLOCKS = /* sql */ `
-- Every indexed block, without gaps from chain.start_block on.
CREATE TABLE blocks (
  number INTEGER PRIMARY KEY,
  hash BLOB NOT NULL,                   -- 32 bytes; the parent hash is in the row before
  timestamp INTEGER NOT NULL,           -- Unix seconds
  last_transfer INTEGER NOT NULL,       -- highest transfers.id up to and with this block, 0 if none
  last_wallet INTEGER NOT NULL,         -- highest wallets.id up to and with this block, 0 if none
  transactions INTEGER NOT NULL,        -- transactions with transfers up to and with this block
  checksum INTEGER NOT NULL             -- 32 bits over the stored rows of the block (store/checksum.ts)
);
-- Finds the block of a transfer: the lowest number whose last_transfer reaches the id.
CREATE INDEX blocks_by_transfer ON blocks (last_transfer, number);
`;

const TIME_FALLS = /* sql */ `
-- The first block earlier than the latest timestamp before it, for each such timestamp: none on most chains
-- (store/block-times.ts).
CREATE TABLE time_falls (
  first INTEGER PRIMARY KEY,            -- blocks.number
  time INTEGER NOT NULL                 -- that timestamp, Unix seconds: later than those of the rows before
);
`;

const DAMAGE = /* sql */ `
-- At most one row: damage that a repair found but could not fix (store/index-file.ts).
CREATE TABLE damage (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  reason TEXT NOT NULL
);
`;

const BLOCK_GAPS = /* sql */ `
-- Indexed blocks of which transfers are missing, as ranges. Those of one kind do not overlap, and touch only where
-- their reasons differ. Committed with the blocks.
CREATE TABLE block_gaps (
  kind INTEGER NOT NULL,                -- GAP_KINDS (model/block-gap.ts): 0 without traces, 1 without logs
  first INTEGER NOT NULL,
  last INTEGER NOT NULL,
  reason TEXT NOT NULL,
  checksum INTEGER NOT NULL,
  PRIMARY KEY (kind, first)
) WITHOUT ROWID;
`;

const SKIPPED_LOGS = /* sql */ `
-- How many logs were not indexed, by reason and contract (store/skipped-logs.ts). Committed with the blocks; a rollback
-- leaves them.
CREATE TABLE skipped_logs (
  reason TEXT NOT NULL,                 -- SkipReason (model/block-batch.ts)
  contract BLOB NOT NULL,               -- 20 bytes; empty in the row that sums up a reason
  logs INTEGER NOT NULL,
  last INTEGER NOT NULL,                -- the highest block that was counted
  tx BLOB NOT NULL,                     -- hash of a transaction with such a log
  checksum INTEGER NOT NULL,
  PRIMARY KEY (reason, contract)
) WITHOUT ROWID;
CREATE INDEX skipped_logs_by_logs ON skipped_logs (logs, contract, reason);
`;

const CHAIN_ANCHORS = /* sql */ `
-- At most one row: facts a node must agree with before a reorg may remove blocks (store/chain.ts).
CREATE TABLE chain_anchors (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  genesis BLOB,                         -- hash of block 0, null until a node provides it
  first_parent BLOB,                    -- parent hash of the first indexed block, null until a node provides it
  finalized INTEGER,                    -- highest indexed block that a node proved final, null where none did
  reorg_from INTEGER,                   -- where the index ended when its last reorg began
  checksum INTEGER NOT NULL
);
`;

const REWRITES = /* sql */ `
-- Repairs that removed blocks and read them again, under the same hashes: the newest ones (model/rewrites.ts).
-- Committed with the removal.
CREATE TABLE rewrites (
  number INTEGER PRIMARY KEY,           -- counts them from 1, without those that a later step of a repair has replaced
  first INTEGER NOT NULL,               -- all blocks from here on
  lowest INTEGER NOT NULL,              -- the least first of all up to this one
  highest INTEGER NOT NULL,             -- the last block that the index had when any of them began
  token INTEGER NOT NULL,               -- random, because a copy of the file may have another repair of this number
  checksum INTEGER NOT NULL
);
`;

/**
 * Value of transfers.token_kind; `token` is 0 for a native transfer. ERC-20, the most frequent kind, has the negative
 * numbers for itself: SQLite stores 32,768 tokens in two bytes instead of 4,096.
 */
export function packTokenKind(token: number, kind: number): number {
  return kind === TransferKind.erc20 ? -token : token * 8 + kind;
}

/** tokens.id of a transfers.token_kind, 0 for a native transfer. */
export function tokenOf(tokenKind: number): number {
  return tokenKind < 0 ? -tokenKind : Math.floor(tokenKind / 8);
}

/** The TransferKind of a transfers.token_kind. */
export function kindOf(tokenKind: number): number {
  return tokenKind < 0 ? TransferKind.erc20 : tokenKind & 7;
}

/**
 * Log index whose transfers.log is 0. SQLite stores the first 256 log indexes of a block in one byte instead of 128.
 */
export const LOG_INDEX_BASE = 128;

/** The bytes 0 to 32. SQL has no function from a byte to its number: `instr` finds the byte's place in this list. */
const LENGTHS = `x'${Buffer.from(Array.from({ length: 33 }, (_, i) => i)).toString('hex')}'`;

/** SQL: the cases of these kinds. A new kind changes the table, so it needs a migration. */
function cases(kinds: readonly TransferKind[], value: string): string {
  return kinds.map((kind) => `WHEN ${kind} THEN ${value}`).join('\n    ');
}

const MOVE_ONE = TOKEN_KINDS.filter(movesOne);
const SEMI_FUNGIBLE = TOKEN_KINDS.filter(isSemiFungible);

const TRANSFERS = /* sql */ `
-- Every transfer in chain order; id is dense from 1 and is the pagination key of the API.
CREATE TABLE transfers (
  id INTEGER PRIMARY KEY,
  tx INTEGER NOT NULL,                  -- in the first transfer of a transaction: its hash, a blob of 32 bytes; in the
                                        -- others: the distance to that first transfer's id
  sender INTEGER NOT NULL,              -- wallets.id
  receiver INTEGER NOT NULL,            -- wallets.id
  token_kind INTEGER NOT NULL,          -- ERC-20: -token; others: token * 8 + kind
  value BLOB NOT NULL,                  -- of ERC-721 the token id; of ERC-1155 a byte with the length of the token id,
                                        -- the token id and the amount; of the others the amount
  log INTEGER,                          -- log_index - ${LOG_INDEX_BASE}
  log_index INTEGER AS (log + ${LOG_INDEX_BASE}),      -- position of the log in its block, null for native
  -- model/transfer-kind.ts. ERC-20 has only the negative form: a positive one is damage and reads as null.
  kind INTEGER AS (iif(token_kind < 0, ${TransferKind.erc20}, nullif(token_kind & 7, ${TransferKind.erc20}))),
  token INTEGER AS (iif(token_kind < 0, -token_kind, nullif(token_kind >> 3, 0))), -- tokens.id, null for native
  -- Wei or token units; null for ERC-721, whose amount is 1.
  amount BLOB AS (CASE kind
    ${cases(MOVE_ONE, 'NULL')}
    ${cases(SEMI_FUNGIBLE, `substr(value, instr(${LENGTHS}, substr(value, 1, 1)) + 1)`)}
    ELSE value END),
  -- The ERC-721 or ERC-1155 token id (big-endian, shortest), else null.
  token_number BLOB AS (CASE kind
    ${cases(MOVE_ONE, 'value')}
    ${cases(SEMI_FUNGIBLE, `substr(value, 2, instr(${LENGTHS}, substr(value, 1, 1)) - 1)`)} END)
);
`;

/** The COUNTED_TRANSFER columns of `transfers`. All counters and sums follow from them. */
export interface CountedTransfer {
  id: number;
  tx: Buffer | number;
  sender: number;
  receiver: number;
  kind: number;
  token: number | null;
  amount: Buffer | null;
  token_number: Buffer | null;
}

export const COUNTED_TRANSFER = 'id, tx, sender, receiver, kind, token, amount, token_number';

const NATIVE_PEAKS = /* sql */ `
-- Zone map: the largest native transfer of each span of transfers, so a search for large ones skips most spans.
-- A span without native transfers has no row (store/zone-map.ts).
CREATE TABLE native_peaks (
  level INTEGER NOT NULL,               -- 1: spans of 256 transfers, 2: spans of 65,536
  span INTEGER NOT NULL,                -- transfers.id >> (8 * level)
  peak BLOB NOT NULL,                   -- its largest amount, wei, in the order-preserving form
  PRIMARY KEY (level, span)
) WITHOUT ROWID;
`;

const WALLETS = /* sql */ `
-- One row per address that ever was sender, receiver or token contract of a transfer. The counters equal a count of
-- its listed transfers; first, last and latest transfers are transfers.id.
CREATE TABLE wallets (
  id INTEGER PRIMARY KEY,
  address BLOB NOT NULL,                -- 20 bytes
  transfers INTEGER NOT NULL,           -- transfers of this wallet; one to itself counts once
  transactions INTEGER NOT NULL,        -- distinct transactions among them
  tokens INTEGER NOT NULL,              -- distinct token contracts among them
  token_transfers INTEGER NOT NULL,     -- those that carry a token
  internal_received INTEGER NOT NULL,   -- internal native transfers received
  native_received BLOB NOT NULL,        -- wei, direct and internal
  native_sent BLOB NOT NULL,
  funder INTEGER,                       -- sender of first_direct, else of first_internal
  funded INTEGER NOT NULL,              -- wallets whose funder this wallet is
  first_transfer INTEGER,               -- its first transfer; null for a token contract without transfers of its own
  -- Stored as distances from an earlier id, null if there is none: most are 0, which takes no space.
  last_after INTEGER,                   -- of last_transfer from first_transfer
  first_direct_after INTEGER,           -- of first_direct from first_transfer
  latest_direct_after INTEGER,          -- of latest_direct from first_direct
  first_internal_after INTEGER,         -- of first_internal from first_transfer
  latest_internal_after INTEGER,        -- of latest_internal from first_internal
  recent BLOB NOT NULL,                 -- its newest transfers, packed (store/wallet-history.ts); others in activity
  last_transfer INTEGER AS (first_transfer + last_after),
  -- First and newest direct native transfer from another wallet but the zero address; the same for internal ones.
  first_direct INTEGER AS (first_transfer + first_direct_after),
  latest_direct INTEGER AS (first_direct + latest_direct_after),
  first_internal INTEGER AS (first_transfer + first_internal_after),
  latest_internal INTEGER AS (first_internal + latest_internal_after),
  funding INTEGER AS (coalesce(first_direct, first_internal)) -- the transfer of funder
);
`;

const ADDRESSES = /* sql */ `
-- Finds a wallet by the first bytes of its address; the row of the wallet has the whole one (store/addresses.ts).
CREATE TABLE addresses (
  key BLOB PRIMARY KEY,                 -- the first ${ADDRESS_PREFIX_BYTES} bytes; all 20 if another wallet has those
  wallet INTEGER NOT NULL
) WITHOUT ROWID;
`;

const FUNDINGS = /* sql */ `
-- The first fundings by each funder. The receiver of that transfer is the funded wallet.
CREATE TABLE fundings (
  funder INTEGER NOT NULL,              -- wallets.id
  funding INTEGER NOT NULL,             -- transfers.id
  PRIMARY KEY (funder, funding)
) WITHOUT ROWID;
`;

const ACTIVITY = /* sql */ `
-- Wallet history: the older transfers of a wallet in packed pages of ENTRIES_PER_PAGE entries; written once.
CREATE TABLE activity (
  wallet INTEGER NOT NULL,
  first_transfer INTEGER NOT NULL,      -- id of the page's first entry
  entries BLOB NOT NULL,
  PRIMARY KEY (wallet, first_transfer)
) WITHOUT ROWID;
`;

const COUNTERPARTIES = /* sql */ `
-- How far the history of a busy wallet is in counterparty_sums; a wallet with less than PAGES_PER_FOLD finished pages
-- has no row in either table (store/counterparty-sums.ts).
CREATE TABLE summed_histories (
  wallet INTEGER PRIMARY KEY,
  pages INTEGER NOT NULL,               -- of activity, the oldest ones
  last INTEGER NOT NULL                 -- transfers.id of their newest entry
);
-- The transfers of a busy wallet with other wallets, summed over those pages.
CREATE TABLE counterparty_sums (
  wallet INTEGER NOT NULL,
  span INTEGER NOT NULL,                -- wallets.id of the others / SUMS_SPAN
  peak INTEGER NOT NULL,                -- most transfers with any of them
  last INTEGER NOT NULL,                -- the newest of those; of equal ones the latest
  sent INTEGER NOT NULL,                -- the newest native transfer to any of them, 0 if none
  sums BLOB NOT NULL,                   -- each of the others, packed: counts and wei in and out, newest transfer; the
                                        -- count, first and newest of native transfers out
  PRIMARY KEY (wallet, span)
) WITHOUT ROWID;
-- Gives the peaks of a wallet, and where its newest recipients are, without reading its sums.
CREATE INDEX counterparty_sums_by_peak ON counterparty_sums (wallet, peak, last, sent);
`;

const TOKENS = /* sql */ `
-- One row per token contract of any standard.
CREATE TABLE tokens (
  id INTEGER PRIMARY KEY,
  wallet INTEGER NOT NULL,              -- wallets.id of the contract's address
  transfers INTEGER NOT NULL,
  holders INTEGER NOT NULL,             -- wallets with a balance above zero, without the zero address
  wallets INTEGER NOT NULL,             -- distinct addresses in its transfers, without the zero address
  buyers INTEGER NOT NULL,              -- how many are in first_buyers
  first_transfer INTEGER NOT NULL,
  kind INTEGER NOT NULL,                -- TransferKind of its first transfer
  recent BLOB NOT NULL DEFAULT x''      -- its newest transfers, packed (store/tokens/token-history.ts); older ones in
                                        -- token_activity
);
CREATE UNIQUE INDEX tokens_by_wallet ON tokens (wallet);

-- Token history: the older transfers of a token in packed pages of up to TOKEN_PAGE_BYTES; written once.
CREATE TABLE token_activity (
  token INTEGER NOT NULL,
  first_transfer INTEGER NOT NULL,      -- id of the page's first entry
  entries BLOB NOT NULL,
  PRIMARY KEY (token, first_transfer)
) WITHOUT ROWID;

-- The sum of a token's transfers per address: an estimate of the balance.
CREATE TABLE holdings (
  token INTEGER NOT NULL,
  wallet INTEGER NOT NULL,
  transfers INTEGER NOT NULL,           -- of the token with this address; one to itself counts once
  balance BLOB NOT NULL,                -- signed; ERC-721 counts tokens, ERC-1155 sums units over ids
  PRIMARY KEY (token, wallet)
) WITHOUT ROWID;

-- Zone map: the largest holding above zero in each span of wallets, of tokens with more than LARGE_TOKEN_WALLETS
-- wallets, so that the largest holders are found in a few spans. A span without such a holding has no row
-- (store/tokens/holding-peaks.ts).
CREATE TABLE holding_peaks (
  token INTEGER NOT NULL,
  span INTEGER NOT NULL,                -- holdings.wallet / PEAK_SPAN
  peak BLOB NOT NULL,                   -- the largest balance of these wallets, without the zero address
  PRIMARY KEY (token, span)
) WITHOUT ROWID;

-- The first receivers of a non-zero amount of each token, at most MAX_FIRST_BUYERS. A token without any has no row.
CREATE TABLE first_buyers (
  token INTEGER PRIMARY KEY,            -- tokens.id
  buyers BLOB NOT NULL                  -- each receiver, packed (store/tokens/first-buyers.ts): the distance of the
                                        -- transfer that made it a holder from that of the receiver before, and its
                                        -- wallets.id
);
`;

/** All tables of a new file. */
export const SCHEMA = [
  CHAIN,
  INDEX_RULES,
  BLOCKS,
  TIME_FALLS,
  BLOCK_PARTIES,
  DAMAGE,
  BLOCK_GAPS,
  SKIPPED_LOGS,
  CHAIN_ANCHORS,
  REWRITES,
  TRANSFERS,
  NATIVE_PEAKS,
  WALLETS,
  ADDRESSES,
  FUNDINGS,
  ACTIVITY,
  COUNTERPARTIES,
  TOKENS,
  TOKEN_QUALITY,
  TOKEN_METADATA,
  WALLET_CODE,
  DERIVED,
  TRADES,
].join('');

/** First receivers stored per token: the maximum `limit` of token_first_buyers. */
export const MAX_FIRST_BUYERS = 200;

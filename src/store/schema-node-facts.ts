/** Tables of facts about tokens and wallets that come from the node's state, not from the blocks (schema.ts). */

export const TOKEN_QUALITY = /* sql */ `
-- Balance accuracy: whether a token's balances follow from its transfers, sampled from the node
-- (store/tokens/balance-accuracy.ts). Like token_metadata it does not follow from the chain alone. No row: not examined
-- yet.
CREATE TABLE token_quality (
  token INTEGER PRIMARY KEY,            -- tokens.id
  quality INTEGER NOT NULL,             -- BalanceAccuracy
  block INTEGER NOT NULL,               -- head of the index at the last examination
  offsets TEXT NOT NULL,                -- 'wallet:offset ...': balanceOf minus the index, as first found
  checksum INTEGER NOT NULL
);
-- Finds the tokens examined longest ago, and those that a rollback invalidates.
CREATE INDEX token_quality_by_block ON token_quality (block);
`;

export const TOKEN_METADATA = /* sql */ `
-- Name, symbol, decimals and view kind from the token contracts (store/tokens/token-metadata.ts).
CREATE TABLE token_metadata (
  address BLOB PRIMARY KEY,             -- 20 bytes
  name TEXT,                            -- each null when the contract gives no usable value
  symbol TEXT,
  decimals INTEGER,
  view_kind INTEGER,                    -- TransferKind that it is shown as; null for that of its first transfer
  tries INTEGER NOT NULL,               -- how many times the contract was called
  retry_at INTEGER,                     -- Unix seconds of the next try, null for never
  checksum INTEGER NOT NULL
) WITHOUT ROWID;
-- Find tokens by the beginning of their symbol or name, in any case of ASCII letters.
CREATE INDEX token_metadata_by_symbol ON token_metadata (symbol COLLATE NOCASE);
CREATE INDEX token_metadata_by_name ON token_metadata (name COLLATE NOCASE);
CREATE INDEX token_metadata_by_retry ON token_metadata (retry_at) WHERE retry_at IS NOT NULL;
`;

export const WALLET_CODE = /* sql */ `
-- Whether the address of a wallet has code, asked from the node (store/wallet-code.ts). No row: not asked yet.
CREATE TABLE wallet_code (
  wallet INTEGER PRIMARY KEY,           -- wallets.id
  contract INTEGER NOT NULL,            -- 1 with code; 0 without, or with a delegation of EIP-7702 only
  block INTEGER NOT NULL,               -- head of the index when the node was asked
  checksum INTEGER NOT NULL
);
-- Finds those that a rollback invalidates.
CREATE INDEX wallet_code_by_block ON wallet_code (block);
`;

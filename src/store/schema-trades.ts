/** Tables of what follows from trades (schema.ts). */

export const TRADES = /* sql */ `
-- The lists by which trades are told (model/trade-rules.ts); two rows while sums by other lists are built
-- (store/trades/trade-generations.ts).
CREATE TABLE trade_rules (
  generation INTEGER PRIMARY KEY,
  rules TEXT NOT NULL,
  checksum INTEGER NOT NULL
);
-- What the trades of a wallet add up to, by what it bought and sold. No row: no buy or sell.
CREATE TABLE trade_sums (
  generation INTEGER NOT NULL,
  token INTEGER NOT NULL,               -- tokens.id, 0 for the native coin
  wallet INTEGER NOT NULL,
  sums BLOB NOT NULL,                   -- against each quote, packed (store/trades/packed-sums.ts)
  PRIMARY KEY (generation, token, wallet)
) WITHOUT ROWID;
-- How many wallets have a row in trade_sums.
CREATE TABLE traded_tokens (
  generation INTEGER NOT NULL,
  token INTEGER NOT NULL,
  traders INTEGER NOT NULL,
  PRIMARY KEY (generation, token)
) WITHOUT ROWID;
-- Zone map: the most and the least profit in each span of wallets against each quote, of tokens with more than
-- LARGE_TOKEN_TRADERS traders (store/trades/trade-peaks.ts).
CREATE TABLE trade_peaks (
  generation INTEGER NOT NULL,
  token INTEGER NOT NULL,
  quote INTEGER NOT NULL,               -- tokens.id, 0 for the native coin
  span INTEGER NOT NULL,                -- trade_sums.wallet / TRADE_SPAN
  profit BLOB NOT NULL,                 -- averageCostProfit, both in the order-preserving form
  loss BLOB NOT NULL,
  PRIMARY KEY (generation, token, quote, span)
) WITHOUT ROWID;
`;

/** Tables of what an index of an earlier release gets while it is served (schema.ts). */

export const DERIVED = /* sql */ `
-- What the zero address gave of a token, by the transfers that move its holdings (store/tokens/token-mints.ts). No row:
-- nothing.
CREATE TABLE token_mints (
  token INTEGER PRIMARY KEY,            -- tokens.id
  minted BLOB NOT NULL
);

-- One row for each structure that an index of an earlier release gets while it is served (store/derived.ts).
CREATE TABLE derived (
  name TEXT PRIMARY KEY,                -- token_history: tokens.recent and token_activity; token_mints: that table;
                                        -- trade_sums: of the lowest generation in trade_rules; new_trade_sums: of the
                                        -- other, only while there is one
  last_transfer INTEGER NOT NULL,       -- it has the transfers up to this one
  checksum INTEGER NOT NULL
) WITHOUT ROWID;
`;

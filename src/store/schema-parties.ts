/** The table of senders and receivers of transactions (schema.ts). */

export const BLOCK_PARTIES = /* sql */ `
-- Senders and receivers of the transactions of a block (store/packed-parties.ts). No row: without transfers, of an
-- earlier release, or without a known sender; streams then ask the node.
CREATE TABLE block_parties (
  number INTEGER PRIMARY KEY,           -- blocks.number
  parties BLOB NOT NULL,                -- packed
  checksum INTEGER NOT NULL             -- of the row, because the checksum of an earlier block has none
);
`;

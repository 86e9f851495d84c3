/** Migrations 6 to 8, 11, 13 and 16: small tables, and new ones. */
import { rowChecksum } from '../checksum.ts';
import type { Migration } from './migration.ts';

/** Rules 1 without what the first releases took from the configuration at each start: a daemon completes them. */
export const RULES_OF_INDEX: Migration = {
  version: 6,
  title: 'record the rules of the index',
  step(db) {
    db.exec(/* sql */ `
      CREATE TABLE index_rules (
        one INTEGER PRIMARY KEY CHECK (one = 1),
        version INTEGER NOT NULL,
        monad INTEGER,
        wrapped_native TEXT,
        native_contracts TEXT NOT NULL,
        unindexed_erc20 TEXT NOT NULL,
        checksum INTEGER NOT NULL
      );`);
    const row = [1, 1, null, null, '', ''];
    if (db.prepare('SELECT 1 FROM chain').get() !== undefined)
      db.prepare('INSERT INTO index_rules VALUES (?, ?, ?, ?, ?, ?, ?)').run(...row, rowChecksum(...row));
    return null;
  },
};

/** Earlier releases recorded no reasons. */
const FORMER_REASON = 'indexed without traces';

/**
 * Adds what is missing and why to the blocks without traces. Their number follows from a few bad nodes, not the chain.
 */
export const REASONS_OF_GAPS: Migration = {
  version: 7,
  title: 'record why blocks are incomplete',
  step(db) {
    db.exec(/* sql */ `
      CREATE TABLE block_gaps (
        kind INTEGER NOT NULL,
        first INTEGER NOT NULL,
        last INTEGER NOT NULL,
        reason TEXT NOT NULL,
        checksum INTEGER NOT NULL,
        PRIMARY KEY (kind, first)
      ) WITHOUT ROWID;`);
    const insert = db.prepare(
      'INSERT INTO block_gaps (kind, first, last, reason, checksum) VALUES (0, ?, ?, ?, ?)',
    );
    const rows = db
      .prepare<[], { first: number; last: number }>('SELECT first, last FROM untraced_blocks ORDER BY first')
      .all();
    for (const { first, last } of rows)
      insert.run(first, last, FORMER_REASON, rowChecksum(first, last, 0, FORMER_REASON));
    db.exec('DROP TABLE untraced_blocks');
    return null;
  },
};

export const TABLE_OF_REWRITES: Migration = {
  version: 8,
  title: 'add a table of repairs',
  step(db) {
    db.exec(/* sql */ `
      CREATE TABLE rewrites (
        number INTEGER PRIMARY KEY,
        first INTEGER NOT NULL,
        lowest INTEGER NOT NULL,
        highest INTEGER NOT NULL,
        token INTEGER NOT NULL,
        checksum INTEGER NOT NULL
      );`);
    return null;
  },
};

export const TABLE_OF_CODE: Migration = {
  version: 11,
  title: 'add a table of contracts among wallets',
  step(db) {
    db.exec(/* sql */ `
      CREATE TABLE wallet_code (
        wallet INTEGER PRIMARY KEY,
        contract INTEGER NOT NULL,
        block INTEGER NOT NULL,
        checksum INTEGER NOT NULL
      );
      CREATE INDEX wallet_code_by_block ON wallet_code (block);`);
    return null;
  },
};

/** Earlier releases counted skipped logs in memory, so an index of theirs counts from here on. */
export const TABLE_OF_SKIPPED_LOGS: Migration = {
  version: 13,
  title: 'add a table of skipped logs',
  step(db) {
    db.exec(/* sql */ `
      CREATE TABLE skipped_logs (
        reason TEXT NOT NULL,
        contract BLOB NOT NULL,
        logs INTEGER NOT NULL,
        last INTEGER NOT NULL,
        tx BLOB NOT NULL,
        checksum INTEGER NOT NULL,
        PRIMARY KEY (reason, contract)
      ) WITHOUT ROWID;
      CREATE INDEX skipped_logs_by_logs ON skipped_logs (logs, contract, reason);`);
    return null;
  },
};

/** Blocks of earlier releases have no row: streams ask the node for their senders, as before. */
export const TABLE_OF_PARTIES: Migration = {
  version: 16,
  title: 'make room for the senders of transactions',
  step(db) {
    db.exec(/* sql */ `
      CREATE TABLE block_parties (
        number INTEGER PRIMARY KEY,
        parties BLOB NOT NULL,
        checksum INTEGER NOT NULL
      );`);
    return null;
  },
};

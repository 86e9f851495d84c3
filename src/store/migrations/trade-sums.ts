/** Migration 15: the sums of trades. */
import { rowChecksum } from '../checksum.ts';
import type { Migration } from './migration.ts';

/** Only makes room. The daemon records its lists and fills the sums while it serves (store/derived.ts). */
export const TRADE_SUMS: Migration = {
  version: 15,
  title: 'make room for the sums of trades',
  step(db) {
    db.exec(/* sql */ `
      CREATE TABLE trade_rules (
        generation INTEGER PRIMARY KEY,
        rules TEXT NOT NULL,
        checksum INTEGER NOT NULL
      );
      CREATE TABLE trade_sums (
        generation INTEGER NOT NULL,
        token INTEGER NOT NULL,
        wallet INTEGER NOT NULL,
        sums BLOB NOT NULL,
        PRIMARY KEY (generation, token, wallet)
      ) WITHOUT ROWID;
      CREATE TABLE traded_tokens (
        generation INTEGER NOT NULL,
        token INTEGER NOT NULL,
        traders INTEGER NOT NULL,
        PRIMARY KEY (generation, token)
      ) WITHOUT ROWID;
      CREATE TABLE trade_peaks (
        generation INTEGER NOT NULL,
        token INTEGER NOT NULL,
        quote INTEGER NOT NULL,
        span INTEGER NOT NULL,
        profit BLOB NOT NULL,
        loss BLOB NOT NULL,
        PRIMARY KEY (generation, token, quote, span)
      ) WITHOUT ROWID;`);
    const row = ['trade_sums', 0];
    db.prepare('INSERT INTO derived VALUES (?, ?, ?)').run(...row, rowChecksum(...row));
    return null;
  },
};

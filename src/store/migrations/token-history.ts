/** Migration 14: the histories of tokens. */
import { rowChecksum } from '../checksum.ts';
import type { Migration } from './migration.ts';

/** Only makes room. The daemon fills it while it serves (store/derived.ts). */
export const TOKEN_HISTORIES: Migration = {
  version: 14,
  title: 'make room for the histories of tokens',
  step(db) {
    db.exec(/* sql */ `
      ALTER TABLE tokens ADD COLUMN recent BLOB NOT NULL DEFAULT x'';
      CREATE TABLE token_activity (
        token INTEGER NOT NULL,
        first_transfer INTEGER NOT NULL,
        entries BLOB NOT NULL,
        PRIMARY KEY (token, first_transfer)
      ) WITHOUT ROWID;
      CREATE TABLE derived (
        name TEXT PRIMARY KEY,
        last_transfer INTEGER NOT NULL,
        checksum INTEGER NOT NULL
      ) WITHOUT ROWID;`);
    const row = ['token_history', 0];
    db.prepare('INSERT INTO derived VALUES (?, ?, ?)').run(...row, rowChecksum(...row));
    return null;
  },
};

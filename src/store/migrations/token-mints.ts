/** Migration 17: what was minted of each token. */
import { rowChecksum } from '../checksum.ts';
import type { Migration } from './migration.ts';

/** Only makes room. The daemon fills it while it serves (store/derived.ts). */
export const TOKEN_MINTS: Migration = {
  version: 17,
  title: 'make room for what was minted of each token',
  step(db) {
    db.exec(/* sql */ `
      CREATE TABLE token_mints (
        token INTEGER PRIMARY KEY,
        minted BLOB NOT NULL
      );`);
    const row = ['token_mints', 0];
    db.prepare('INSERT INTO derived VALUES (?, ?, ?)').run(...row, rowChecksum(...row));
    return null;
  },
};

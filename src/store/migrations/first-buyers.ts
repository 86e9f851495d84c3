/** Migration 4: the first buyers of tokens. */
import { type Db, highest } from '../open-database.ts';
import { type Buyer, packBuyers } from '../tokens/first-buyers.ts';
import type { Migration } from './migration.ts';

/** Tokens packed per step: at most 200,000 rows. */
const PACKED_PER_STEP = 1_000;

/**
 * Packs the first buyers into one row per token. The packed rows leave the former table, so that new ones take their
 * pages. The cursor is the last token done. Tests pack fewer tokens at a time.
 */
export function packedFirstBuyers(tokensPerStep: number = PACKED_PER_STEP): Migration {
  return {
    version: 4,
    title: 'pack the first buyers',
    end: (db) => highest(db, 'tokens') + 1,
    step(db, cursor) {
      if (cursor === null) {
        db.exec(/* sql */ `
          ALTER TABLE first_buyers RENAME TO former_first_buyers;
          CREATE TABLE first_buyers (
            token INTEGER PRIMARY KEY,
            buyers BLOB NOT NULL
          );`);
        return 0;
      }
      const first = db
        .prepare<[number], number>(
          'SELECT token FROM former_first_buyers WHERE token > ? ORDER BY token LIMIT 1',
        )
        .pluck()
        .get(cursor);
      if (first === undefined) {
        db.exec('DROP TABLE former_first_buyers');
        return null;
      }
      const last = first + tokensPerStep - 1;
      packBuyersOf(db, first, last);
      return last;
    },
  };
}

function packBuyersOf(db: Db, first: number, last: number): void {
  const rows = db
    .prepare<[number, number], Buyer & { token: number }>(/* sql */ `
      SELECT token, transfer, wallet FROM former_first_buyers WHERE token BETWEEN ? AND ? ORDER BY token, transfer`)
    .all(first, last);
  const insert = db.prepare('INSERT INTO first_buyers (token, buyers) VALUES (?, ?)');
  for (const [token, buyers] of Map.groupBy(rows, ({ token }) => token))
    insert.run(token, packBuyers(buyers));
  db.prepare('DELETE FROM former_first_buyers WHERE token BETWEEN ? AND ?').run(first, last);
}

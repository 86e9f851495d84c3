/** Migration 5: the rows of transfers. */
import { type Db, highest } from '../open-database.ts';
import { type Migration, unmigrated } from './migration.ts';

/** Rows copied per step, which takes a fifth of a second. */
const TRANSFERS_PER_STEP = 50_000;

/** The bytes 0 to 32, to make one of a length and back. */
const LENGTHS = `x'${Buffer.from(Array.from({ length: 33 }, (_, i) => i)).toString('hex')}'`;

/**
 * Copies every transfer into a table with a column less and smaller numbers. Each step frees the pages of the rows that
 * it has copied for the next one, so the file hardly grows. The cursor is the last transfer copied. Tests copy fewer
 * rows at a time.
 */
export function smallerTransfers(perStep: number = TRANSFERS_PER_STEP): Migration {
  return {
    version: 5,
    title: 'store transfers in fewer bytes',
    end: (db) => highest(db, unmigrated(db, 'transfers')),
    step(db, cursor) {
      if (cursor === null) {
        replaceTransfers(db);
        return 0;
      }
      const { changes, lastInsertRowid } = db
        .prepare(/* sql */ `
        INSERT INTO transfers (id, tx, sender, receiver, token_kind, value, log)
        SELECT id, tx, sender, receiver, iif(token_kind & 7 = 1, -(token_kind >> 3), token_kind), ifnull(CASE
        token_kind & 7
            WHEN 3 THEN token_number
            WHEN 4 THEN CAST(substr(${LENGTHS}, length(token_number) + 1, 1) || token_number || amount AS BLOB)
            ELSE amount END, x''), log_index - 128
        FROM former_transfers ORDER BY id LIMIT ${perStep}`)
        .run();
      if (changes === 0) {
        db.exec('DROP TABLE former_transfers');
        return null;
      }
      db.prepare('DELETE FROM former_transfers WHERE id <= ?').run(lastInsertRowid);
      return Number(lastInsertRowid);
    },
  };
}

function replaceTransfers(db: Db): void {
  db.exec(/* sql */ `
    ALTER TABLE transfers RENAME TO former_transfers;
    CREATE TABLE transfers (
      id INTEGER PRIMARY KEY,
      tx INTEGER NOT NULL,
      sender INTEGER NOT NULL,
      receiver INTEGER NOT NULL,
      token_kind INTEGER NOT NULL,
      value BLOB NOT NULL,
      log INTEGER,
      log_index INTEGER AS (log + 128),
      kind INTEGER AS (iif(token_kind < 0, 1, nullif(token_kind & 7, 1))),
      token INTEGER AS (iif(token_kind < 0, -token_kind, nullif(token_kind >> 3, 0))),
      amount BLOB AS (CASE kind
        WHEN 3 THEN NULL
        WHEN 4 THEN substr(value, instr(${LENGTHS}, substr(value, 1, 1)) + 1)
        ELSE value END),
      token_number BLOB AS (CASE kind
        WHEN 3 THEN value
        WHEN 4 THEN substr(value, 2, instr(${LENGTHS}, substr(value, 1, 1)) - 1) END)
    );`);
}

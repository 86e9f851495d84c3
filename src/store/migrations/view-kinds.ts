/** Migration 10: the view kinds of tokens. */
import { rowChecksum } from '../checksum.ts';
import type { Db } from '../open-database.ts';
import { type Migration, unmigrated } from './migration.ts';

/** Rows copied per step, which takes a fifth of a second. */
const METADATA_PER_STEP = 20_000;

/**
 * Adds the view kind of tokens. Their contracts are called again where it may differ from the form of their logs: those
 * without decimals or with 0. The cursor is the number of rows copied. Tests copy fewer rows at a time.
 */
export function viewKinds(perStep: number = METADATA_PER_STEP): Migration {
  return {
    version: 10,
    title: 'tell tokens whose logs have the form of another standard',
    end: (db) =>
      Number(
        db
          .prepare(`SELECT count(*) FROM ${unmigrated(db, 'token_metadata')}`)
          .pluck()
          .get(),
      ),
    step(db, cursor) {
      if (cursor === null) {
        replaceMetadata(db);
        return 0;
      }
      const copied = copyMetadata(db, perStep);
      if (copied > 0) return cursor + copied;
      db.exec('DROP TABLE former_token_metadata');
      return null;
    },
  };
}

function replaceMetadata(db: Db): void {
  db.exec(/* sql */ `
    DROP INDEX token_metadata_by_symbol;
    DROP INDEX token_metadata_by_name;
    DROP INDEX token_metadata_by_retry;
    ALTER TABLE token_metadata RENAME TO former_token_metadata;
    CREATE TABLE token_metadata (
      address BLOB PRIMARY KEY,
      name TEXT,
      symbol TEXT,
      decimals INTEGER,
      view_kind INTEGER,
      tries INTEGER NOT NULL,
      retry_at INTEGER,
      checksum INTEGER NOT NULL
    ) WITHOUT ROWID;
    CREATE INDEX token_metadata_by_symbol ON token_metadata (symbol COLLATE NOCASE);
    CREATE INDEX token_metadata_by_name ON token_metadata (name COLLATE NOCASE);
    CREATE INDEX token_metadata_by_retry ON token_metadata (retry_at) WHERE retry_at IS NOT NULL;`);
}

/** Copies the next rows; a damaged one as it is, to be found damaged. Returns their number. */
function copyMetadata(db: Db, limit: number): number {
  const rows = db
    .prepare<[number], [Buffer, unknown, unknown, unknown, unknown, unknown, unknown]>(/* sql */ `
      SELECT address, name, symbol, decimals, tries, retry_at, checksum FROM former_token_metadata
      ORDER BY address LIMIT ?`)
    .raw()
    .all(limit);
  const insert = db.prepare('INSERT INTO token_metadata VALUES (?, ?, ?, ?, ?, ?, ?, ?)');
  for (const row of rows) {
    const [address, name, symbol, decimals, tries, retryAt, checksum] = row;
    const isWhole = rowChecksum(...row.slice(0, -1)) === checksum;
    const copy = [address, name, symbol, decimals, null, tries, isWhole && !decimals ? 0 : retryAt];
    insert.run(...copy, isWhole ? rowChecksum(...copy) : checksum);
  }
  db.prepare('DELETE FROM former_token_metadata WHERE address <= ?').run(rows.at(-1)?.[0]);
  return rows.length;
}

/**
 * Upgrades an index of an earlier release. Migrations are numbered and never removed: an older file runs the ones it
 * lacks, a new file is created from schema.ts. Both must yield the same tables, so a migration keeps its own copy of
 * any CREATE text that schema.ts changes later.
 */
import type { Db } from '../open-database.ts';
import { CHECKSUM_OF_ANCHORS, UNPROVED_ANCHORS } from './chain-anchors.ts';
import { sumsOfSends } from './counterparty-sums.ts';
import { packedFirstBuyers } from './first-buyers.ts';
import type { Migration } from './migration.ts';
import {
  REASONS_OF_GAPS,
  RULES_OF_INDEX,
  TABLE_OF_CODE,
  TABLE_OF_PARTIES,
  TABLE_OF_REWRITES,
  TABLE_OF_SKIPPED_LOGS,
} from './small-tables.ts';
import { timeFalls } from './time-falls.ts';
import { TOKEN_HISTORIES } from './token-history.ts';
import { TOKEN_MINTS } from './token-mints.ts';
import { TRADE_SUMS } from './trade-sums.ts';
import { smallerTransfers } from './transfers.ts';
import { viewKinds } from './view-kinds.ts';

export interface MigrationProgress {
  version: number;
  title: string;
  /** Progress of this migration, 0 to 1. */
  done: number;
}

/** Schema 1 is the first release. */
export const MIGRATIONS: readonly Migration[] = [
  CHECKSUM_OF_ANCHORS,
  sumsOfSends(),
  packedFirstBuyers(),
  smallerTransfers(),
  RULES_OF_INDEX,
  REASONS_OF_GAPS,
  TABLE_OF_REWRITES,
  UNPROVED_ANCHORS,
  viewKinds(),
  TABLE_OF_CODE,
  timeFalls(),
  TABLE_OF_SKIPPED_LOGS,
  TOKEN_HISTORIES,
  TRADE_SUMS,
  TABLE_OF_PARTIES,
  TOKEN_MINTS,
];

/** Holds the cursor of an unfinished migration. The table exists only during a migration. */
const CREATE_PROGRESS_TABLE =
  /* sql */ 'CREATE TABLE IF NOT EXISTS migration (version INTEGER PRIMARY KEY, cursor INTEGER)';

/** Runs the migrations the file lacks, one step per `next`. After a stop, the next call resumes there. */
export function* migrate(db: Db, migrations: readonly Migration[]): Generator<MigrationProgress, void, void> {
  for (const migration of migrations) {
    if (migration.version <= schemaVersion(db)) continue;
    const { version, title } = migration;
    const end = migration.end?.(db) ?? 1;
    for (;;) {
      const cursor = db.transaction(() => runStep(db, migration)).immediate();
      yield { version, title, done: cursor === null ? 1 : Math.min(1, cursor / end) };
      if (cursor === null) break;
    }
  }
}

/** `PRAGMA user_version`. */
export function schemaVersion(db: Db): number {
  return Number(db.pragma('user_version', { simple: true }));
}

/** The schema version after these migrations. */
export function latestVersion(migrations: readonly Migration[]): number {
  return migrations.at(-1)?.version ?? 1;
}

function runStep(db: Db, migration: Migration): number | null {
  db.exec(CREATE_PROGRESS_TABLE);
  const savedCursor = db
    .prepare<[number], number>('SELECT cursor FROM migration WHERE version = ?')
    .pluck()
    .get(migration.version);
  const cursor = migration.step(db, savedCursor ?? null);
  if (cursor === null) {
    db.exec('DROP TABLE migration');
    db.pragma(`user_version = ${migration.version}`);
  } else {
    db.prepare('INSERT OR REPLACE INTO migration (version, cursor) VALUES (?, ?)').run(
      migration.version,
      cursor,
    );
  }
  return cursor;
}

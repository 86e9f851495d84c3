/** The index file as a whole: creates, checks, migrates and opens it, and marks a damaged one. */

import { setImmediate } from 'node:timers/promises';
import { FatalError, StorageError } from '../lib/errors.ts';
import { requireWritable } from '../lib/files.ts';
import { settingName } from '../lib/setting-name.ts';
import { addressPrefix } from './addresses.ts';
import { createDerived } from './derived.ts';
import { acquireWriterLock, type WriterLock } from './file-guard.ts';
import type { Migration } from './migrations/migration.ts';
import {
  latestVersion,
  MIGRATIONS,
  type MigrationProgress,
  migrate,
  schemaVersion,
} from './migrations/migrations.ts';
import { type Db, isEmpty, type OpenOptions, oncePerConnection, openDatabase } from './open-database.ts';
import { DEVELOPMENT_APPLICATION_ID, INDEX_APPLICATION_ID, SCHEMA, ZERO_WALLET } from './schema.ts';
import { toOpenError, toStorageError } from './storage-error.ts';
import { rejectForeignWal } from './wal.ts';

/** The schema this program writes; `PRAGMA user_version` of the file. */
export const SCHEMA_VERSION = latestVersion(MIGRATIONS);

/** SQLite pages of 8 KiB hold a row with an open history page, or a finished page, without overflow pages. */
const PAGE_BYTES = 8192;

interface PrepareOptions {
  /** Called after each step of a migration. */
  onMigration: (progress: MigrationProgress) => void;
  /** Stops after the current step; the next call resumes there. */
  signal?: AbortSignal | undefined;
  /** Only tests pass their own. */
  migrations?: readonly Migration[];
}

/**
 * Creates the index if missing and migrates an older one. The event loop runs between steps. Returns the writer lock;
 * hold it until the writer has ended, so that no second process gets in between. Throws FatalError when the file is not
 * a usable index, is marked as damaged, or another process writes it.
 *
 * The connection stays open as long as the lock: SQLite copies the whole write-ahead log into the file when the last
 * connection closes, which after a kill during a backfill would delay the start by up to a minute.
 */
export async function prepareIndexFile(path: string, options: PrepareOptions): Promise<WriterLock> {
  const lock = acquireIndexLock(path);
  let db: Db | undefined;
  const release = () => {
    try {
      db?.close();
    } finally {
      lock.release();
    }
  };
  try {
    rejectForeignWal(path);
    db = open(path, {});
    await migrateAndCheck(db, path, options);
    return { release };
  } catch (error) {
    release();
    throw error;
  }
}

async function migrateAndCheck(
  db: Db,
  path: string,
  { onMigration, signal, migrations = MIGRATIONS }: PrepareOptions,
): Promise<void> {
  try {
    createIfEmpty(db, path);
    for (const progress of migrate(db, migrations)) {
      onMigration(progress);
      await setImmediate();
      if (signal?.aborted) return;
    }
    rejectDamaged(db, path);
  } catch (error) {
    throw toPrepareError(path, toStorageError(error, path));
  }
}

/**
 * Opens the index for writing; creates or migrates it if necessary. The caller holds the writer lock (file-guard.ts).
 * Throws FatalError when the file is not a usable index.
 */
export function openIndexForWriting(path: string, options: OpenOptions): Db {
  return open(path, options, (db) => {
    createIfEmpty(db, path);
    for (const _ of migrate(db, MIGRATIONS));
  });
}

/** Opens an existing index for reading. Throws FatalError when the file is not a usable index. */
export function openIndexForReading(path: string, options: OpenOptions = {}): Db {
  return open(path, { ...options, readonly: true }, (db) => {
    checkHeader(db, path);
    if (schemaVersion(db) >= SCHEMA_VERSION) return;
    throw new FatalError(
      `${path} was written by an older atlas-node and must be migrated first: run "atlas-node start" once`,
    );
  });
}

/** Throws FatalError unless the file is an index of this version or an earlier one. */
export function checkIndexFile(path: string): void {
  rejectForeignWal(path);
  open(path, { readonly: true }, (db) => checkHeader(db, path)).close();
}

/** Takes the writer lock of the index. Throws FatalError while another process holds it. */
export function acquireIndexLock(path: string): WriterLock {
  try {
    return acquireWriterLock(path);
  } catch (error) {
    throw toOpenError(path, error);
  }
}

/** Opens the file and runs `check` on it. On failure, closes the file and throws FatalError. */
function open(path: string, options: OpenOptions, check: (db: Db) => void = () => undefined): Db {
  let db: Db | undefined;
  try {
    if (!options.readonly) requireWritable(path);
    db = openDatabase(path, { ...options, pageBytes: PAGE_BYTES });
    check(db);
    return db;
  } catch (error) {
    db?.close();
    throw toOpenError(path, error);
  }
}

function createIfEmpty(db: Db, path: string): void {
  if (isEmpty(db)) create(db);
  checkHeader(db, path);
}

function create(db: Db): void {
  db.transaction(() => {
    db.exec(SCHEMA);
    db.prepare(/* sql */ `
      INSERT INTO wallets (id, address, transfers, transactions, tokens, token_transfers, internal_received,
        native_received, native_sent, funded, recent)
      VALUES (${ZERO_WALLET}, zeroblob(20), 0, 0, 0, 0, 0, x'', x'', 0, x'')`).run();
    db.prepare('INSERT INTO addresses (key, wallet) VALUES (?, ?)').run(
      addressPrefix(new Uint8Array(20)),
      ZERO_WALLET,
    );
    createDerived(db);
    db.pragma(`application_id = ${INDEX_APPLICATION_ID}`);
    db.pragma(`user_version = ${SCHEMA_VERSION}`);
  }).immediate();
}

function checkHeader(db: Db, path: string): void {
  const application = db.pragma('application_id', { simple: true });
  if (application === DEVELOPMENT_APPLICATION_ID) {
    throw new FatalError(
      `${path} is an index of an atlas-node from before the first release, whose format this version cannot ` +
        `read: stop atlas-node, delete ${path}, ${path}-wal and ${path}-shm, and start again to rebuild the index ` +
        'from the node; keep keys.db, which stays valid',
    );
  }
  if (application !== INDEX_APPLICATION_ID) {
    throw new FatalError(
      `${path} is a SQLite file but not an atlas-node index; move it away or choose another ${settingName('data_dir')}`,
    );
  }
  const version = schemaVersion(db);
  if (version > SCHEMA_VERSION) {
    throw new FatalError(
      `${path} was written by a newer atlas-node (schema ${version}, this one knows ${SCHEMA_VERSION}); run ` +
        'that version, or move the file away to rebuild the index',
    );
  }
}

/** Keeps a transient failure, such as a full disk, apart: starting again resumes the migration. */
function toPrepareError(path: string, error: unknown): unknown {
  if (!(error instanceof StorageError)) return toOpenError(path, error);
  return new FatalError(
    `${path} could not be migrated: ${error.message}; fix that and start again to resume the migration`,
    { cause: error },
  );
}

/** Prepared once: every query of SQL asks. */
const damageReason = oncePerConnection((db) => db.prepare<[], string>('SELECT reason FROM damage').pluck());

/** Why the file is marked as damaged, null if it is not. */
export function damageOf(db: Db): string | null {
  return damageReason(db).get() ?? null;
}

export function markDamaged(db: Db, reason: string): void {
  db.prepare('REPLACE INTO damage (one, reason) VALUES (1, ?)').run(reason);
}

export function clearDamage(db: Db): void {
  db.exec('DELETE FROM damage');
}

/** Throws FatalError with advice when the file is marked as damaged. */
function rejectDamaged(db: Db, path: string): void {
  const reason = damageOf(db);
  if (reason === null) return;
  throw new FatalError(
    `${path} is damaged (${reason}) and was not repaired: run "atlas-node verify --repair", or move the ` +
      'file away to index from the start',
  );
}

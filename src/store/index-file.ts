/** The index file as a whole: creating, checking, bringing up to date and opening it. */
import { setImmediate } from 'node:timers/promises';
import { FatalError, StorageError } from '../errors.ts';
import { requireWritable } from '../lib/file-access.ts';
import { addressPrefix } from './address-table.ts';
import { rejectForeignWal } from './foreign-wal.ts';
import { MIGRATIONS, type MigrationProgress, migrate, schemaVersion } from './migrations.ts';
import { type Db, isEmpty, type OpenOptions, openDatabase } from './open-database.ts';
import { INDEX_APPLICATION_ID, SCHEMA, ZERO_WALLET } from './schema.ts';
import { toOpenError, toStorageError } from './storage-error.ts';
import { acquireWriterLock, type WriterLock } from './writer-lock.ts';

/** The schema this program writes; `PRAGMA user_version` of the file. */
export const SCHEMA_VERSION = MIGRATIONS.at(-1)?.version ?? 1;

/** Pages of 8 KiB: a wallet's unfinished run and a finished one fit beside others without overflow pages. */
const PAGE_BYTES = 8192;

/**
 * Creates the index when there is none and migrates one of an older release, reporting each step; the event loop runs
 * between steps. An aborted signal stops it after the current step, and the next call resumes there. Returns the right
 * to write, for the writer that follows: given back in between, a second process could take it. Throws FatalError when
 * the file is not a usable index or another process writes it.
 */
export async function prepareIndexFile(
  path: string,
  onMigration: (progress: MigrationProgress) => void,
  signal?: AbortSignal,
): Promise<WriterLock> {
  const lock = acquireIndexLock(path);
  try {
    rejectForeignWal(path);
    const db = open(path, {});
    try {
      for (const progress of createOrMigrate(db, path)) {
        onMigration(progress);
        await setImmediate();
        if (signal?.aborted) break;
      }
    } catch (error) {
      throw toPrepareError(path, toStorageError(error, path));
    } finally {
      db.close();
    }
    return lock;
  } catch (error) {
    lock.release();
    throw error;
  }
}

/**
 * Opens the index for writing, as `prepareIndexFile` leaves it. The caller holds the right to write (writer-lock.ts).
 * Throws FatalError when the file is not a usable index.
 */
export function openIndexForWriting(path: string, options: OpenOptions): Db {
  return open(path, options, (db) => {
    for (const _ of createOrMigrate(db, path));
  });
}

/** Opens an existing index for reading. Throws FatalError when the file is not a usable index. */
export function openIndexForReading(path: string, options: OpenOptions = {}): Db {
  return open(path, { ...options, readonly: true }, (db) => {
    checkHeader(db, path);
    if (schemaVersion(db) >= SCHEMA_VERSION) return;
    throw new FatalError(
      `${path} was written by an older atlas-node and must be brought up to date first: run "atlas-node start" once`,
    );
  });
}

/** Throws FatalError when the file is no index of this program, of its version or an earlier one. */
export function checkIndexFile(path: string): void {
  rejectForeignWal(path);
  open(path, { readonly: true }, (db) => checkHeader(db, path)).close();
}

/** Takes the right to write the index. Throws FatalError while another has it. */
export function acquireIndexLock(path: string): WriterLock {
  try {
    return acquireWriterLock(path);
  } catch (error) {
    throw toOpenError(path, error);
  }
}

function* createOrMigrate(db: Db, path: string): Generator<MigrationProgress, void, void> {
  if (isEmpty(db)) create(db);
  checkHeader(db, path);
  yield* migrate(db);
}

/** Opens the file and runs `check` on it; closes it again when that throws. Failures are thrown as FatalError. */
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
    db.pragma(`application_id = ${INDEX_APPLICATION_ID}`);
    db.pragma(`user_version = ${SCHEMA_VERSION}`);
  }).immediate();
}

function checkHeader(db: Db, path: string): void {
  const application = db.pragma('application_id', { simple: true });
  if (application !== INDEX_APPLICATION_ID) {
    throw new FatalError(
      `${path} is a SQLite file but not an atlas-node index; move it away or choose another data_dir`,
    );
  }
  const version = schemaVersion(db);
  if (version > SCHEMA_VERSION) {
    throw new FatalError(
      `${path} was written by a newer atlas-node (schema ${version}, this one knows ${SCHEMA_VERSION}); run that version, or move the file away to index anew`,
    );
  }
}

/** What failed while the index was brought up to date may pass, such as a full disk. */
function toPrepareError(path: string, error: unknown): unknown {
  if (!(error instanceof StorageError)) return toOpenError(path, error);
  return new FatalError(
    `${path} could not be brought up to date, ${error.message}; once that is mended start again: it goes on where it stopped`,
    { cause: error },
  );
}

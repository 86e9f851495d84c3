/** The file of keys and usage: creating, checking and opening it. */
import { chmodSync, existsSync } from 'node:fs';
import { FatalError } from '../errors.ts';
import { type Db, isEmpty, openDatabase } from '../store/open-database.ts';
import { toOpenError, toStorageError } from '../store/storage-error.ts';
import { KEYS_APPLICATION_ID, KEYS_SCHEMA_V1, KEYS_SCHEMA_V2, KEYS_SCHEMA_VERSION } from './schema.ts';

/** Only the operator's account may read the file: it names the clients. */
const FILE_MODE = 0o600;

/** Advice for a damaged keys file, which cannot be rebuilt. */
export const KEYS_CORRUPTION_ADVICE =
  'put back a copy made by atlas-node backup, or move it away and issue new keys';

/** The SQL from each version to the next, starting from an empty file. Only ever added to. */
const MIGRATIONS = [KEYS_SCHEMA_V1, KEYS_SCHEMA_V2];

/**
 * Opens `keys.db`, creating it when there is none. Several processes may have it open: the daemon and the command
 * line. Throws FatalError when the file is not a usable keys file.
 */
export function openKeysFile(path: string): Db {
  let db: Db | undefined;
  try {
    const fresh = !existsSync(path);
    db = openDatabase(path, { cacheMb: 2 });
    db.pragma('wal_autocheckpoint = 0'); // see keys-checkpointer.ts; the last connection still does when it closes
    if (fresh) chmodSync(path, FILE_MODE);
    migrate(db, path);
    return db;
  } catch (error) {
    db?.close();
    throw toOpenError(path, error, KEYS_CORRUPTION_ADVICE);
  }
}

/** Creates or migrates the tables, under the write lock, because two processes may open the file for the first time. */
function migrate(db: Db, path: string): void {
  db.transaction(() => {
    const application = Number(db.pragma('application_id', { simple: true }));
    const version = Number(db.pragma('user_version', { simple: true }));
    const isNew = application === 0 && version === 0 && isEmpty(db);
    if (!isNew && application !== KEYS_APPLICATION_ID) {
      throw new FatalError(
        `${path} is a SQLite file but does not hold atlas-node keys; move it away or choose another data_dir`,
      );
    }
    if (version > KEYS_SCHEMA_VERSION) {
      throw new FatalError(
        `${path} was written by a newer atlas-node (schema ${version}, this one knows ${KEYS_SCHEMA_VERSION}); run that version`,
      );
    }
    if (version === KEYS_SCHEMA_VERSION) return;
    for (const migration of MIGRATIONS.slice(version)) db.exec(migration);
    db.pragma(`application_id = ${KEYS_APPLICATION_ID}`);
    db.pragma(`user_version = ${KEYS_SCHEMA_VERSION}`);
  }).immediate();
}

/** A failure while the file is in use: as StorageError if it can pass, as FatalError for a damaged file, else unchanged. */
export function toKeysStorageError(error: unknown, db: Db): unknown {
  return toStorageError(error, db.name, KEYS_CORRUPTION_ADVICE);
}

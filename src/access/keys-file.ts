/**
 * `keys.db`: its tables, and how it is created, checked and opened. Unlike the index, this file cannot be rebuilt. It
 * never stores a key, only the key's SHA-256.
 */

import { chmodSync, existsSync } from 'node:fs';
import { FatalError, StorageError } from '../lib/errors.ts';
import { settingName } from '../lib/setting-name.ts';
import { type Db, isEmpty, openDatabase } from '../store/open-database.ts';
import { toOpenError, toStorageError } from '../store/storage-error.ts';
import type { KeyRow } from './key.ts';

/** `PRAGMA application_id` of a keys file: "atlk". */
export const KEYS_APPLICATION_ID = 0x61746c6b;

/** The schema this program writes; `PRAGMA user_version` of the file. */
export const KEYS_SCHEMA_VERSION = 6;

export const KEYS_SCHEMA_V1 = /* sql */ `
-- One row per key ever issued. A rotation replaces the secret and keeps the row with its usage and quota.
CREATE TABLE keys (
  id INTEGER PRIMARY KEY AUTOINCREMENT, -- how operators refer to a key; never reused
  hash BLOB NOT NULL UNIQUE,            -- SHA-256 of the whole key text, 32 bytes
  hint TEXT NOT NULL,                   -- first characters of the key, to recognise it
  name TEXT NOT NULL,                   -- whom it was issued to
  tier TEXT NOT NULL,                   -- name of a [tiers.*] table of the configuration
  created_at INTEGER NOT NULL,          -- Unix milliseconds, as the two below
  rotated_at INTEGER,                   -- when the current secret replaced the previous one, else null
  revoked_at INTEGER                    -- null while the key is valid
);

-- Requests that were admitted, per key and calendar month.
CREATE TABLE usage (
  key INTEGER NOT NULL,                 -- keys.id
  month INTEGER NOT NULL,               -- year * 100 + month (1-12), UTC
  requests INTEGER NOT NULL,
  PRIMARY KEY (key, month)
) WITHOUT ROWID;
`;

/** Version 2: usage by hour, for charts. Quotas depend on `usage` alone. */
const KEYS_SCHEMA_V2 = /* sql */ `
-- Requests that were admitted, per key and hour. New hours replace those older than HISTORY_HOURS (usage.ts).
CREATE TABLE usage_hours (
  hour INTEGER NOT NULL,                -- Unix time in whole hours
  key INTEGER NOT NULL,                 -- keys.id
  requests INTEGER NOT NULL,
  PRIMARY KEY (hour, key)
) WITHOUT ROWID;
`;

/** Version 3: keys that expire. */
const KEYS_SCHEMA_V3 = /* sql */ `
-- Unix milliseconds from which on the key is invalid; null for a key that does not expire.
ALTER TABLE keys ADD COLUMN expires_at INTEGER;
`;

/** Version 4: keys that may use a part of the server. */
const KEYS_SCHEMA_V4 = /* sql */ `
-- Endpoints and methods that the key may use, separated by commas (allow-list.ts); empty for everything.
ALTER TABLE keys ADD COLUMN allow TEXT NOT NULL DEFAULT '';
`;

/** Version 5: a file that is the cache of keys in PostgreSQL, which several daemons share (src/cluster). */
const KEYS_SCHEMA_V5 = /* sql */ `
-- One row once the file was filled from PostgreSQL, else none.
CREATE TABLE cluster (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  id TEXT NOT NULL,                     -- cluster.id in PostgreSQL: the file is never filled from other tables
  daemon TEXT NOT NULL,                 -- daemons.id in PostgreSQL: whose requests the table usage counts
  keys_seen INTEGER NOT NULL,           -- highest keys.version in PostgreSQL that is in this file
  usage_seen INTEGER NOT NULL           -- the same of usage.version
);

-- Requests that the other daemons admitted, per key and calendar month, as last read from PostgreSQL.
CREATE TABLE usage_elsewhere (
  key INTEGER NOT NULL,                 -- keys.id
  month INTEGER NOT NULL,               -- as in usage
  requests INTEGER NOT NULL,
  PRIMARY KEY (key, month)
) WITHOUT ROWID;
`;

/** Version 6: changes since a reader's last check. Triggers record them, so that no statement can omit it. */
const KEYS_SCHEMA_V6 = /* sql */ `
-- Higher than in any other row since the last change of this one.
ALTER TABLE keys ADD COLUMN change INTEGER NOT NULL DEFAULT 0;
CREATE INDEX keys_change ON keys (change);
CREATE TRIGGER keys_insert AFTER INSERT ON keys BEGIN
  UPDATE keys SET change = (SELECT max(change) FROM keys) + 1 WHERE id = NEW.id;
END;
CREATE TRIGGER keys_update AFTER UPDATE OF hash, hint, name, tier, rotated_at, revoked_at, expires_at, allow ON keys
BEGIN
  UPDATE keys SET change = (SELECT max(change) FROM keys) + 1 WHERE id = NEW.id;
END;
`;

/** Only the operator's account may read the file, because it names the clients. */
const FILE_MODE = 0o600;

/** Advice for a damaged keys file, which cannot be rebuilt. */
export const KEYS_CORRUPTION_ADVICE =
  'restore a copy made by atlas-node backup, or move it away and issue new keys';

/** The SQL from each version to the next, starting from an empty file. Append only. */
const MIGRATIONS = [
  KEYS_SCHEMA_V1,
  KEYS_SCHEMA_V2,
  KEYS_SCHEMA_V3,
  KEYS_SCHEMA_V4,
  KEYS_SCHEMA_V5,
  KEYS_SCHEMA_V6,
];

/**
 * Opens `keys.db`; creates it if missing. Daemon and command line may have it open at the same time. Throws FatalError
 * when the file is not a usable keys file.
 */
export function openKeysFile(path: string): Db {
  let db: Db | undefined;
  try {
    const fresh = !existsSync(path);
    db = openDatabase(path, { cacheMb: 2 });
    // See keys-checkpointer.ts; SQLite still checkpoints when the last connection closes.
    db.pragma('wal_autocheckpoint = 0');
    if (fresh) chmodSync(path, FILE_MODE);
    migrate(db, path);
    return db;
  } catch (error) {
    db?.close();
    throw toOpenError(path, error, KEYS_CORRUPTION_ADVICE);
  }
}

/** Creates or migrates the tables, under the write lock because two processes may create the file at once. */
function migrate(db: Db, path: string): void {
  db.transaction(() => {
    const application = Number(db.pragma('application_id', { simple: true }));
    const version = Number(db.pragma('user_version', { simple: true }));
    const isNew = application === 0 && version === 0 && isEmpty(db);
    if (!isNew && application !== KEYS_APPLICATION_ID) {
      throw new FatalError(
        `${path} is a SQLite file but does not hold atlas-node keys; move it away or choose another ` +
          `${settingName('data_dir')}`,
      );
    }
    if (version > KEYS_SCHEMA_VERSION) {
      throw new FatalError(
        `${path} was written by a newer atlas-node (schema ${version}, this one knows ` +
          `${KEYS_SCHEMA_VERSION}); run that version`,
      );
    }
    if (version === KEYS_SCHEMA_VERSION) return;
    for (const migration of MIGRATIONS.slice(version)) db.exec(migration);
    db.pragma(`application_id = ${KEYS_APPLICATION_ID}`);
    db.pragma(`user_version = ${KEYS_SCHEMA_VERSION}`);
  }).immediate();
}

/** Converts a failure in use: StorageError if transient, FatalError for a damaged file, otherwise unchanged. */
export function toKeysStorageError(error: unknown, db: Db): unknown {
  return toStorageError(error, db.name, KEYS_CORRUPTION_ADVICE);
}

/** Runs a read of the file and converts its failure with `toKeysStorageError`. */
export function readKeysFile<T>(db: Db, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw toKeysStorageError(error, db);
  }
}

/** Whether the file failed, not the code. The daemon survives this with its state in memory. */
export function isFileFailure(error: unknown): error is StorageError | FatalError {
  return error instanceof StorageError || error instanceof FatalError;
}

/** The row of the table `cluster`, which a cache of keys in PostgreSQL has (src/cluster). */
export interface ClusterCache {
  id: string;
  daemon: string;
  keysSeen: number;
  usageSeen: number;
}

/** Null if the file is not a cache. */
export function clusterCache(db: Db): ClusterCache | null {
  return (
    db
      .prepare<[], ClusterCache>(
        'SELECT id, daemon, keys_seen AS keysSeen, usage_seen AS usageSeen FROM cluster',
      )
      .get() ?? null
  );
}

/** Turns the file into an empty cache. */
export function becomeClusterCache(db: Db, { id, daemon }: Pick<ClusterCache, 'id' | 'daemon'>): void {
  db.prepare('INSERT INTO cluster (one, id, daemon, keys_seen, usage_seen) VALUES (1, ?, ?, 0, 0)').run(
    id,
    daemon,
  );
}

/** Makes the next synchronization read everything again. */
export function forgetSeen(db: Db): void {
  db.prepare('UPDATE cluster SET keys_seen = 0, usage_seen = 0').run();
}

/** Writes keys as stored in PostgreSQL. `seen` is their highest version, null when keys below it may be missing. */
export function cacheKeys(db: Db, rows: readonly KeyRow[], seen: number | null): void {
  const write = db.prepare(/* sql */ `
    INSERT INTO keys (id, hash, hint, name, tier, created_at, rotated_at, revoked_at, expires_at, allow)
    VALUES (@id, @hash, @hint, @name, @tier, @createdAt, @rotatedAt, @revokedAt, @expiresAt, @allow)
    ON CONFLICT (id) DO UPDATE SET hash = excluded.hash, hint = excluded.hint, name = excluded.name,
      tier = excluded.tier, created_at = excluded.created_at, rotated_at = excluded.rotated_at,
      revoked_at = excluded.revoked_at, expires_at = excluded.expires_at, allow = excluded.allow`);
  db.transaction(() => {
    for (const row of rows) write.run(row);
    if (seen !== null) db.prepare('UPDATE cluster SET keys_seen = ?').run(seen);
  }).immediate();
}

/** Revokes the cached keys that PostgreSQL lacks because it was restored from an older backup. */
export function revokeOthers(db: Db, ids: readonly number[], now: number): number {
  return db
    .prepare(
      'UPDATE keys SET revoked_at = ? WHERE revoked_at IS NULL AND id NOT IN (SELECT value FROM json_each(?))',
    )
    .run(now, JSON.stringify(ids)).changes;
}

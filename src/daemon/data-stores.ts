/** The data folder: the index file, migrated and opened for reading, and the keys file. */
import { join } from 'node:path';
import { openAccess } from '../access/access.ts';
import { KeysCheckpointer } from '../access/keys-checkpointer.ts';
import { startKeysCheckpointThread } from '../access/threads.ts';
import { makeDataDir } from '../config/data-dir.ts';
import type { Config } from '../config.ts';
import type { CleanupStack } from '../lib/cleanup-stack.ts';
import type { Logger } from '../log.ts';
import { Snapshot } from '../query/snapshot.ts';
import { openIndexForReading, prepareIndexFile } from '../store/index-file.ts';
import type { MigrationProgress } from '../store/migrations.ts';

/** Page cache of the serving connection, MiB. */
const READER_CACHE_MB = 32;

/** Milliseconds between log lines about the progress of a migration. */
const MIGRATION_LOG_MS = 5_000;

export type DataStores = Awaited<ReturnType<typeof openDataStores>>;

/**
 * Creates the folder if needed. Throws ConfigError when it cannot be created, FatalError for files that cannot be used,
 * and the signal's reason when it aborts during a migration of the index.
 */
export async function openDataStores(
  config: Config,
  log: Logger,
  closers: CleanupStack,
  signal?: AbortSignal,
) {
  makeDataDir(config.data_dir);
  const indexPath = join(config.data_dir, 'index.db');
  // Before anything else depends on the file. The right to write is held until the writer thread has ended.
  closers.adopt(await prepareIndexFile(indexPath, migrationLogger(log), signal), (lock) => lock.release());
  signal?.throwIfAborted();
  const db = closers.adopt(openIndexForReading(indexPath, { cacheMb: READER_CACHE_MB }), (db) => db.close());
  const snapshot = closers.adopt(new Snapshot(db), (snapshot) => snapshot.release());
  const keysPath = join(config.data_dir, 'keys.db');
  const access = closers.adopt(openAccess(keysPath, config.tiers, usageFailureLogger(log)), (access) =>
    access.close(),
  );
  closers.adopt(
    new KeysCheckpointer(keysPath, () => startKeysCheckpointThread(keysPath), keysWalFailureLogger(log)),
    (checkpointer) => checkpointer.close(),
  );
  return { indexPath, db, snapshot, access };
}

/** Logs the beginning and the end of each migration, and its progress. */
function migrationLogger(log: Logger): (progress: MigrationProgress) => void {
  let current = 0;
  let loggedAt = 0;
  return ({ version, title, done }) => {
    if (version === current && done < 1 && performance.now() - loggedAt < MIGRATION_LOG_MS) return;
    current = version;
    loggedAt = performance.now();
    log.info({ version, title, percent: Math.floor(done * 100) }, 'bringing the index up to date');
  };
}

/** Pages that stay in the log are read from there, and the next check tries again. */
function keysWalFailureLogger(log: Logger): (error: Error) => void {
  return (error) =>
    log.warn({ reason: error.message }, 'the log of keys.db cannot be moved into it and grows');
}

function usageFailureLogger(log: Logger): (error: Error | null) => void {
  return (error) => {
    if (error === null) log.info({}, 'usage is written and read again');
    else log.error({ reason: error.message }, 'usage cannot be written or read and is kept in memory');
  };
}

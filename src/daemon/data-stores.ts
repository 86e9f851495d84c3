/** The data folder: the index file, migrated and opened for reading, and the keys file. */

import { join } from 'node:path';
import { type Access, openAccess } from '../access/access.ts';
import { KeysCheckpointer } from '../access/keys-checkpointer.ts';
import { FALLBACK_TIER } from '../access/limiter.ts';
import { makeDataDir } from '../config/load-config.ts';
import type { Config } from '../config/parse-config.ts';
import { Labels } from '../labels/labels.ts';
import type { CleanupStack } from '../lib/cleanup-stack.ts';
import { messageOf } from '../lib/errors.ts';
import { settingName } from '../lib/setting-name.ts';
import type { Logger } from '../log/logger.ts';
import { Snapshot } from '../query/snapshot.ts';
import { openIndexForReading, prepareIndexFile } from '../store/index-file.ts';
import type { MigrationProgress } from '../store/migrations/migrations.ts';

/** Page cache of the serving connection, MiB. */
const READER_CACHE_MB = 32;

/** Milliseconds between log lines about the progress of a migration. */
const MIGRATION_LOG_MS = 5_000;

export type DataStores = Awaited<ReturnType<typeof openDataStores>>;

/**
 * Creates the folder if needed. Throws ConfigError when it cannot be created, FatalError for unusable files, and the
 * signal's reason when it aborts during a migration of the index.
 */
export async function openDataStores(
  config: Config,
  log: Logger,
  closers: CleanupStack,
  signal?: AbortSignal,
) {
  makeDataDir(config.data_dir);
  const indexPath = join(config.data_dir, 'index.db');
  // First, because everything else depends on the file. The lock is held until the indexer thread has exited.
  closers.adopt(await prepareIndexFile(indexPath, { onMigration: migrationLogger(log), signal }), (lock) =>
    lock.release(),
  );
  signal?.throwIfAborted();
  const db = closers.adopt(openIndexForReading(indexPath, { cacheMb: READER_CACHE_MB }), (db) => db.close());
  const snapshot = closers.adopt(new Snapshot(db), (snapshot) => snapshot.release());
  const keysPath = join(config.data_dir, 'keys.db');
  const access = closers.adopt(
    openAccess(keysPath, config.tiers, usageFailureLogger(log), config.rpc.rate_wait_ms),
    (access) => access.close(),
  );
  access.keys.onUnreadable = (error) =>
    log.error({ reason: error.message }, 'changes of keys cannot be read; keys in memory stay valid');
  closers.adopt(new KeysCheckpointer(keysPath, log), (checkpointer, leftMs) => checkpointer.close(leftMs));
  const labelsPath = join(config.data_dir, 'labels.db');
  const labels = closers.adopt(new Labels(labelsPath, labelFailureLogger(log)), (labels) => labels.close());
  return { indexPath, db, snapshot, keysPath, access, labels, labelsPath };
}

/** Logs start, progress and end of each migration. */
function migrationLogger(log: Logger): (progress: MigrationProgress) => void {
  let current = 0;
  let loggedAt = 0;
  return ({ version, title, done }) => {
    if (version === current && done < 1 && performance.now() - loggedAt < MIGRATION_LOG_MS) return;
    current = version;
    loggedAt = performance.now();
    log.info({ version, title, percent: Math.floor(done * 100) }, 'migrating the index');
  };
}

/** Without labels everything else still works. */
function labelFailureLogger(log: Logger): (error: unknown) => void {
  return (error) =>
    log.error({ reason: messageOf(error) }, 'labels.db cannot be read; answers carry no labels');
}

function usageFailureLogger(log: Logger): (error: Error | null) => void {
  return (error) => {
    if (error === null) log.info({}, 'usage is readable and writable again');
    else log.error({ reason: error.message }, 'usage cannot be written or read and stays in memory');
  };
}

/** Lets visitors of the pages use the operator's public key. */
export function openToVisitors(
  { keys }: Pick<Access, 'keys'>,
  { public_explorer, public_key }: Config['server'],
  log: Logger,
): void {
  keys.publicKeyId = public_explorer ? public_key : 0;
  if (public_explorer && ![...keys.valid()].some(({ id }) => id === public_key))
    log.warn(
      { key: public_key, setting: settingName('server.public_key') },
      'server.public_key is not a valid key: the pages ask visitors for their own',
    );
}

/**
 * Warns if no key is valid, and about each tier of valid keys that is not configured, such as a renamed or mistyped
 * one.
 */
export function warnAboutKeys(
  { keys, limiter }: Pick<Access, 'keys' | 'limiter'>,
  dataDir: string,
  log: Logger,
): void {
  const valid = [...keys.valid()];
  if (valid.length === 0) {
    const create = `atlas-node keys create --name app --tier growth --data-dir ${dataDir}`;
    log.warn({ create }, 'there is no valid key, so every request is refused: create one');
  }
  const unknown = new Map<string, number>();
  for (const { tier } of valid) {
    if (!Object.hasOwn(limiter.tiers, tier)) unknown.set(tier, (unknown.get(tier) ?? 0) + 1);
  }
  for (const [tier, count] of unknown) {
    log.warn({ tier, keys: count, limits: FALLBACK_TIER }, 'keys have a tier that is not configured');
  }
}

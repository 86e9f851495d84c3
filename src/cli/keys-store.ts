/** The keys of a data folder, opened for one command. */
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { KeyStore } from '../access/keys.ts';
import { ConfigError, FatalError } from '../errors.ts';

/** Runs `action` with the keys, which must exist unless `create` is set, and closes them afterwards. */
export async function withKeys<T>(
  dataDir: string,
  action: (store: KeyStore) => T,
  { create = false } = {},
): Promise<T> {
  const path = join(dataDir, 'keys.db');
  if (!create && !existsSync(path)) {
    throw new FatalError(
      `there is no ${path} yet: issue a key with "atlas-node keys create", or name the folder with --data-dir, or the configuration with --config`,
    );
  }
  const { openKeyStore } = await import('../access/keys.ts');
  makeFolder(dataDir);
  const store = openKeyStore(path);
  try {
    return action(store);
  } finally {
    store.close();
  }
}

function makeFolder(path: string): void {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ConfigError(`data_dir: cannot create ${path}: ${reason}`);
  }
}

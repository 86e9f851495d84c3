/** The keys of a data folder, opened for one command. */
import { join } from 'node:path';
import type { KeyStore } from '../access/keys.ts';
import { makeDataDir } from '../config/data-dir.ts';
import { FatalError } from '../errors.ts';
import { dataFileExists } from '../lib/file-access.ts';

/** Runs `action` with the keys, which must exist unless `create` is set, and closes them afterwards. */
export async function withKeyStore<T>(
  dataDir: string,
  action: (store: KeyStore) => T,
  { create = false } = {},
): Promise<T> {
  const path = join(dataDir, 'keys.db');
  if (!dataFileExists(path) && !create) {
    throw new FatalError(
      `there is no ${path} yet: issue a key with "atlas-node keys create", or name the folder with --data-dir, or the configuration with --config`,
    );
  }
  const [{ openKeyStore }, { rejectForeignWal }] = await Promise.all([
    import('../access/keys.ts'),
    import('../store/foreign-wal.ts'),
  ]);
  makeDataDir(dataDir);
  rejectForeignWal(path);
  const store = openKeyStore(path);
  try {
    return action(store);
  } finally {
    store.close();
  }
}

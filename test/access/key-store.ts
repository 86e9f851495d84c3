/** A file of keys, closed when its test ends. */
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { type KeyStore, openKeyStore } from '../../src/access/keys.ts';
import { tempDir } from '../support/temp-dir.ts';

export function openStore(
  t: TestContext,
  path = join(tempDir(t), 'keys.db'),
): { store: KeyStore; path: string } {
  const store = openKeyStore(path);
  t.after(() => store.close());
  return { store, path };
}

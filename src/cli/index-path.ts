/** The index of a data folder, for commands that look at one. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { FatalError } from '../errors.ts';

/** Path of the index in the folder. Throws FatalError saying what to do when there is none. */
export function existingIndexPath(dataDir: string): string {
  const path = join(dataDir, 'index.db');
  if (existsSync(path)) return path;
  throw new FatalError(
    `there is no ${path}: name the folder of the index with --data-dir, or the configuration with --config`,
  );
}

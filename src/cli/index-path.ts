/** The index of a data folder, for commands that look at one. */
import { join } from 'node:path';
import { FatalError } from '../errors.ts';
import { dataFileExists } from '../lib/file-access.ts';

/** Path of the index in the folder. Throws FatalError saying what to do when there is none, or it is hidden. */
export function existingIndexPath(dataDir: string): string {
  const path = join(dataDir, 'index.db');
  if (dataFileExists(path)) return path;
  throw new FatalError(
    `there is no ${path}: name the folder of the index with --data-dir, or the configuration with --config`,
  );
}

/** Making the data folder. */
import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { ConfigError } from '../errors.ts';
import { messageOf } from '../lib/error-text.ts';

/** For its owner alone, because it contains keys.db. */
const MODE = 0o700;

/** Creates the folder of `data_dir` if needed. Throws ConfigError when it cannot be created. */
export function makeDataDir(path: string): void {
  try {
    makeFolder(path);
  } catch (error) {
    throw new ConfigError(`data_dir: cannot create ${path}: ${messageOf(error)}`);
  }
}

/** Recurses itself: Node's `recursive` never ends where a parent exists but cannot contain a new folder, as /proc. */
function makeFolder(path: string): void {
  if (isFolder(path)) return;
  if (dirname(path) !== path) makeFolder(dirname(path));
  try {
    mkdirSync(path, { mode: MODE });
  } catch (error) {
    if (!isFolder(path)) throw error; // else another process has just made it
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

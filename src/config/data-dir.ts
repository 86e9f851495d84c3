/** Making the data folder. */
import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { ConfigError } from '../errors.ts';
import { messageOf } from '../lib/error-text.ts';

/** For its owner alone: the file of the keys stands in it. */
const MODE = 0o700;

/** Makes the folder of `data_dir` where there is none. Throws ConfigError for one that cannot be made. */
export function makeDataDir(path: string): void {
  try {
    makeFolder(path);
  } catch (error) {
    throw new ConfigError(`data_dir: cannot create ${path}: ${messageOf(error)}`);
  }
}

/** One folder after the other: Node's own recursion never ends where a parent is there but takes no folder, as /proc. */
function makeFolder(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return;
  if (dirname(path) !== path) makeFolder(dirname(path));
  mkdirSync(path, { mode: MODE });
}

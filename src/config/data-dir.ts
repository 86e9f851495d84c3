/** Making the data folder. */
import { mkdirSync } from 'node:fs';
import { ConfigError } from '../errors.ts';
import { messageOf } from '../lib/error-text.ts';

/** For its owner alone: the file of the keys stands in it. */
const MODE = 0o700;

/** Makes the folder of `data_dir` where there is none. Throws ConfigError for one that cannot be made. */
export function makeDataDir(path: string): void {
  try {
    mkdirSync(path, { recursive: true, mode: MODE });
  } catch (error) {
    throw new ConfigError(`data_dir: cannot create ${path}: ${messageOf(error)}`);
  }
}

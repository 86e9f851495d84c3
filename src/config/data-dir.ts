/** Making the data folder. */
import { ConfigError } from '../errors.ts';
import { messageOf } from '../lib/error-text.ts';
import { makePrivateFolder } from '../lib/make-private-folder.ts';

/** Creates the folder of `data_dir` if needed, for its owner alone. Throws ConfigError when it cannot be created. */
export function makeDataDir(path: string): void {
  try {
    makePrivateFolder(path); // it contains keys.db
  } catch (error) {
    throw new ConfigError(`data_dir: cannot create ${path}: ${messageOf(error)}`);
  }
}

/** Keeps commands that create a file of the data folder from doing so in a wrong one, where no daemon reads it. */
import { readdirSync } from 'node:fs';
import type { LoadedConfig } from '../config/load-config.ts';
import { ConfigError, codeOf } from '../lib/errors.ts';
import { fileErrorReason } from '../lib/files.ts';

/** A folder with one of these is a data folder. */
const KNOWN_FILES = ['index.db', 'keys.db', 'hooks.db', 'labels.db', 'atlas.toml'];

/** What a new, unused folder may contain: hidden files, and what a new file system has. */
const UNUSED = /^\.|^lost\+found$/;

/**
 * Throws ConfigError unless `data_dir` is a data folder or a new one: empty, or missing where the configuration file or
 * the default names it. A missing folder on the command line or in the environment is more likely a typing mistake.
 * Returns what to tell the operator once the command has created the default folder.
 */
export function requireDataFolder({
  config: { data_dir },
  sources,
}: Pick<LoadedConfig, 'config' | 'sources'>): string | undefined {
  const source = sources.data_dir ?? 'default';
  const names = namesIn(data_dir);
  if (names === null) {
    if (source === 'default') return `created the data folder ${data_dir}; start the daemon with the same`;
    if (source.startsWith('file ')) return undefined;
    throw new ConfigError(
      `the folder ${data_dir} (${source}) does not exist: correct it, name the configuration with --config, or ` +
        'create the folder if it is new',
    );
  }
  if (KNOWN_FILES.some((name) => names.includes(name))) return undefined;
  const foreign = names.find((name) => !UNUSED.test(name));
  if (foreign === undefined) return undefined;
  throw new ConfigError(
    `${data_dir} (${source}) is no data folder: it contains ${foreign} and none of ${KNOWN_FILES.join(', ')}; ` +
      `name the daemon's data folder with --data-dir, its configuration with --config, or an empty folder`,
  );
}

/** Names in a folder, null if it does not exist. */
function namesIn(folder: string): string[] | null {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw new ConfigError(`cannot read the data folder ${folder}: ${fileErrorReason(error)}`);
  }
}

/** Options that several commands share. */
import { dirname, join } from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { FLAGS, type Flag, type FlagValues } from '../config/flags.ts';
import type { LoadedConfig } from '../config/load-config.ts';
import type { Config } from '../config/parse-config.ts';
import { FatalError } from '../lib/errors.ts';
import { dataFileExists } from '../lib/files.ts';
import { requireDataFolder } from './data-folder.ts';

/**
 * Adds `--config` and the given flags (default: all of them) to a command. Returns a function that loads the
 * configuration; call it after the command line is parsed.
 */
export function addConfigOptions(
  command: Command,
  names: readonly Flag[] = FLAGS.map(({ flag }) => flag),
): () => Promise<LoadedConfig> {
  command.option('--config <file>', 'configuration file (default: ./atlas.toml, if it exists)');
  const flags = FLAGS.filter(({ flag }) => names.includes(flag)).map(({ flag, value, help }) => {
    const option = new Option(`${flag} ${value}`, help);
    command.addOption(option);
    return { flag, attribute: option.attributeName() };
  });
  return async () => {
    const values: FlagValues = {};
    for (const { flag, attribute } of flags) values[flag] = textOption(command, attribute);
    const { loadConfig } = await import('../config/load-config.ts');
    return loadConfig(textOption(command, 'config'), values);
  };
}

/**
 * Adds `--json`, `--config` and `--data-dir` to a command. `run` gets the configuration and what commander passes, and
 * returns the text for people and the value for programs. `creates`: whether it may create a file of the data folder.
 */
export function addReport<Given extends unknown[]>(
  command: Command,
  run: (config: Config, ...given: Given) => Promise<readonly [text: string, value: unknown]>,
  creates: (config: Config) => boolean = () => false,
): void {
  command.option('--json', 'as JSON');
  const load = addConfigOptions(command, ['--data-dir']);
  command.action(async (...given: Given) => {
    const loaded = await load();
    const note = creates(loaded.config) ? requireDataFolder(loaded) : undefined;
    const [text, value] = await run(loaded.config, ...given);
    if (note !== undefined) console.error(`atlas-node: ${note}`);
    const { json } = command.opts<{ json?: boolean }>();
    console.log(json ? JSON.stringify(value, null, 2) : text);
  });
}

/**
 * Opens a file of the data folder that a daemon may have open too, runs `action` and closes the file. `missing`: advice
 * for a missing file, null to create it.
 */
export async function withDataFile<Store extends { close(): void }, T>(
  path: string,
  missing: string | null,
  opener: () => Promise<(path: string) => Store>,
  action: (store: Store) => T | Promise<T>,
): Promise<T> {
  if (!dataFileExists(path) && missing !== null) throw new FatalError(`there is no ${path} yet: ${missing}`);
  const [open, { rejectForeignWal }, { makeDataDir }] = await Promise.all([
    opener(),
    import('../store/wal.ts'),
    import('../config/load-config.ts'),
  ]);
  makeDataDir(dirname(path));
  rejectForeignWal(path);
  const store = open(path);
  try {
    return await action(store);
  } finally {
    store.close();
  }
}

/** The examples of `--help`, from command lines without the program's name. */
export function examples(...lines: string[]): string {
  return ['\nExamples:', ...lines.map((line) => `  $ atlas-node ${line}`)].join('\n');
}

/** Width of help when stdout is not a terminal. */
const DEFAULT_COLUMNS = 80;

/** Appends paragraphs to the help of a command, wrapped to the terminal's width. */
export function addNotes(command: Command, ...paragraphs: string[]): void {
  command.addHelpText('after', ({ error }) => {
    const { getErrHelpWidth, getOutHelpWidth } = command.configureOutput();
    const columns = (error ? getErrHelpWidth : getOutHelpWidth)?.() ?? DEFAULT_COLUMNS;
    return paragraphs.map((text) => `\n${command.createHelp().boxWrap(text, columns)}`).join('\n');
  });
}

/** Parses the number of a key. */
export function parseKeyId(text: string): number {
  if (!/^[1-9]\d{0,14}$/.test(text))
    throw new InvalidArgumentError('It must be a key number as shown by "keys list".');
  return Number(text);
}

function textOption(command: Command, attribute: string): string | undefined {
  const value: unknown = command.getOptionValue(attribute);
  return typeof value === 'string' ? value : undefined;
}

/** Path of the index in the folder. Throws FatalError with advice when it is missing or inaccessible. */
export function existingIndexPath(dataDir: string): string {
  const path = join(dataDir, 'index.db');
  if (dataFileExists(path)) return path;
  throw new FatalError(
    `there is no ${path}: name the folder of the index with --data-dir, or the configuration with --config`,
  );
}

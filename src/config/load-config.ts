/** Loads the configuration of this process from file and environment, and checks the paths in it. */

import { accessSync, constants, existsSync, readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { ConfigError } from '../lib/errors.ts';
import { fileErrorReason, makePrivateFolder } from '../lib/files.ts';
import { nameSettings, settingName } from '../lib/setting-name.ts';
import type { FlagValues } from './flags.ts';
import { Mistakes } from './mistakes.ts';
import { type ParsedConfig, parseConfig } from './parse-config.ts';

const DEFAULT_FILE = 'atlas.toml';

export interface LoadedConfig extends ParsedConfig {
  /** The path of the file read, as given; null without a file. */
  file: string | null;
}

/**
 * Names the settings for the messages of this process. Parses `configPath`, else `./atlas.toml` if it exists; the
 * environment overrides the file, the flags override both.
 */
export function loadConfig(configPath: string | undefined, flags: FlagValues): LoadedConfig {
  const path = configPath ?? (existsSync(DEFAULT_FILE) ? DEFAULT_FILE : undefined);
  const file = path === undefined ? undefined : { path, text: readConfigFile(path) };
  const { names, ...parsed } = parseConfig({ file, env: process.env, flags });
  nameSettings(names);
  return { ...parsed, file: path ?? null };
}

/** Throws a ConfigError when a file is unreadable or the data folder is not writable. */
export function checkPaths({ config, sources }: ParsedConfig): void {
  const at = (path: string) => `${path} (${sources[path]})`;
  const mistakes = new Mistakes();
  for (const [setting, file] of [
    ['server.tls_cert', config.server.tls_cert],
    ['server.tls_key', config.server.tls_key],
  ] as const) {
    if (file === '') continue;
    mistakes.attempt(() => withConfigError(() => readFileSync(file), `${at(setting)}: cannot read ${file}`));
  }
  const folder = existingAncestor(config.data_dir);
  const refusal = `${at('data_dir')}: cannot write to ${config.data_dir}`;
  mistakes.attempt(() => {
    if (!statSync(folder).isDirectory()) throw new ConfigError(`${refusal}: ${folder} is not a folder`);
    withConfigError(() => accessSync(folder, constants.W_OK | constants.X_OK), refusal);
  });
  mistakes.throwIfAny();
}

function readConfigFile(path: string): string {
  return withConfigError(() => readFileSync(path, 'utf8'), `cannot read the configuration ${path}`);
}

function existingAncestor(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : existingAncestor(dirname(path));
}

function withConfigError<T>(action: () => T, refusal: string): T {
  try {
    return action();
  } catch (error) {
    throw new ConfigError(`${refusal}: ${fileErrorReason(error)}`);
  }
}

/**
 * Creates the `data_dir` folder if needed, accessible to its owner only. Throws ConfigError when it cannot be created.
 */
export function makeDataDir(path: string): void {
  try {
    makePrivateFolder(path); // it contains keys.db
  } catch (error) {
    throw new ConfigError(`${settingName('data_dir')}: cannot create ${path}: ${fileErrorReason(error)}`);
  }
}

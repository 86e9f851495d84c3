/**
 * The configuration, parsed once into a typed object: flags override the environment, which overrides the file, which
 * overrides the defaults. Nothing here reads a file or the environment; src/config/load-config.ts does.
 */
import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import { z } from 'zod';
import { crossCheck } from './config/cross-check.ts';
import type { FlagValues } from './config/flags.ts';
import { type Config, configSchema } from './config/schema.ts';
import { maskSetting } from './config/secrets.ts';
import { fromEnv, fromFile, fromFlags, type GivenSetting } from './config/sources.ts';
import { lineOf, parseToml } from './config/toml.ts';
import { flatten, type Leaves, schemaAt, unflatten } from './config/tree.ts';
import { ConfigError } from './errors.ts';

export type { Config } from './config/schema.ts';

/** Where each setting comes from, by dotted path: `default`, `file atlas.toml`, `env ATLAS_X` or `flag --x`. */
export type Sources = Record<string, string>;

export interface ConfigInput {
  file?: { path: string; text: string };
  env?: Record<string, string | undefined>;
  flags?: FlagValues;
  /** Folder that relative paths are resolved against; the working folder when absent. */
  cwd?: string;
}

export interface ParsedConfig {
  config: Config;
  sources: Sources;
}

/** The settings that are paths; an empty one stays empty. */
const PATH_SETTINGS = ['data_dir', 'server.tls_cert', 'server.tls_key'];

/** Throws a ConfigError of one line that names the setting, where it is set and what it must be. */
export function parseConfig(input: ConfigInput): ParsedConfig {
  const leaves = flatten(configSchema.parse({}));
  const sources: Sources = Object.fromEntries([...leaves.keys()].map((path) => [path, 'default']));
  for (const given of givenSettings(input, leaves)) {
    leaves.set(given.path, validateSetting(given));
    sources[given.path] = given.source;
  }
  resolvePaths(leaves, input);
  const config = buildConfig(leaves);
  crossCheck(config, sources);
  return { config, sources };
}

/** All given settings, the source of highest precedence last. */
function givenSettings(input: ConfigInput, known: Leaves): GivenSetting[] {
  const { file, env = {}, flags = {} } = input;
  const inFile = file
    ? fromFile(parseToml(file.text, file.path), file.path, known, (path) => lineOf(file.text, path))
    : [];
  return [...inFile, ...fromEnv(env, known), ...fromFlags(flags)];
}

function validateSetting({ path, value, where }: GivenSetting): unknown {
  const schema = schemaAt(path);
  if (schema === undefined) throw new Error(`no schema for ${path}`);
  const result = z.safeParse(schema, value);
  if (result.success) return result.data;
  throw new ConfigError(`${path} ${result.error.issues[0]?.message}, not ${shown(path, value)} (${where})`);
}

/** A refused value for an error line; a secret is never repeated. */
function shown(path: string, value: unknown): string {
  const masked = maskSetting(path, value);
  return (JSON.stringify(masked) ?? String(masked)).slice(0, 80);
}

/** The whole tree. At this point only a tier that is not predefined can lack a setting. */
function buildConfig(leaves: Leaves): Config {
  const result = configSchema.safeParse(unflatten(leaves));
  if (result.success) return result.data;
  const path = result.error.issues[0]?.path.join('.');
  throw new ConfigError(
    `${path} is missing: a tier needs requests_per_month, requests_per_second and chain_depth`,
  );
}

function resolvePaths(leaves: Leaves, { cwd = process.cwd(), env = {} }: ConfigInput): void {
  for (const path of PATH_SETTINGS) {
    const value = leaves.get(path);
    if (typeof value === 'string' && value !== '')
      leaves.set(path, absolute(value, cwd, env.HOME ?? homedir()));
  }
}

function absolute(path: string, cwd: string, home: string): string {
  if (path === '~' || path.startsWith('~/')) return join(home, path.slice(1));
  return isAbsolute(path) ? path : resolve(cwd, path);
}

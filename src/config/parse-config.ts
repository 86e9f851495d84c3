/**
 * Parses the configuration once into a typed object: flags override the environment, which overrides the file, which
 * overrides the defaults. Reads neither file nor environment; src/config/load-config.ts does.
 */

import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import { parse, TomlError } from 'smol-toml';
import * as z from 'zod';
import { ConfigError } from '../lib/errors.ts';
import type { SettingNames } from '../lib/setting-name.ts';
import type { FlagValues } from './flags.ts';
import { Mistakes } from './mistakes.ts';
import { missingQuerySetting, queryMistakes } from './query-settings.ts';
import { type Config, configSchema } from './schema.ts';
import { maskSetting } from './secrets.ts';
import { fromEnv, fromFile, fromFlags, type GivenSetting } from './sources.ts';
import { flatten, type Leaves, schemaAt, type Table, unflatten } from './tree.ts';
import { splitUrls } from './urls.ts';
import { parseListen } from './values.ts';

export type { Config } from './schema.ts';

/** Where each setting comes from, by dotted path: `default`, `file atlas.toml`, `env ATLAS_X` or `flag --x`. */
export type Sources = Record<string, string>;

export interface ConfigInput {
  file?: { path: string; text: string };
  env?: Record<string, string | undefined>;
  flags?: FlagValues;
  /** Folder against which relative paths are resolved. Default: the working directory. */
  cwd?: string;
}

export interface ParsedConfig {
  config: Config;
  sources: Sources;
}

/** A parsed configuration, and what the operator calls the settings in it. */
export interface NamedConfig extends ParsedConfig {
  names: SettingNames;
}

/** The settings that are paths. An empty one stays empty. */
const PATH_SETTINGS = ['data_dir', 'server.tls_cert', 'server.tls_key', 'explorer.abi_dir'];

/** Throws a ConfigError that names each invalid setting, where it is set and what it must be. */
export function parseConfig(input: ConfigInput): NamedConfig {
  const leaves = flatten(configSchema.parse({}));
  const sources: Sources = Object.fromEntries([...leaves.keys()].map((path) => [path, 'default']));
  const names: Record<string, SettingNames[string]> = {};
  const mistakes = new Mistakes();
  for (const given of givenSettings(input, leaves, mistakes)) {
    mistakes.attempt(() => {
      leaves.set(given.path, validateSetting(given));
      sources[given.path] = given.source;
      names[given.path] = given.name;
    });
  }
  mistakes.throwIfAny();
  resolvePaths(leaves, input);
  const config = buildConfig(leaves);
  const contradictions = [
    ...findContradictions(config, sources),
    ...queryMistakes(config.queries, Object.keys(config.tiers), (path) => {
      const place = names[path]?.at ?? sources[path];
      return place === undefined ? path : `${path} (${place})`;
    }),
  ];
  if (contradictions.length > 0) throw new ConfigError(contradictions);
  return { config, sources, names };
}

/** All given settings, the source of highest precedence last. */
function givenSettings(input: ConfigInput, known: Leaves, mistakes: Mistakes): GivenSetting[] {
  const { file, env = {}, flags = {} } = input;
  const inFile = file
    ? fromFile(parseToml(file.text, file.path), file.path, known, (path) => lineOf(file.text, path), mistakes)
    : [];
  return [...inFile, ...fromEnv(env, known, mistakes), ...fromFlags(flags)];
}

function validateSetting({ path, value, where, name }: GivenSetting): unknown {
  const schema = schemaAt(path);
  if (schema === undefined) throw new Error(`no schema for ${path}`);
  const result = z.safeParse(schema, value);
  if (result.success) return result.data;
  const rule = result.error.issues[0]?.message ?? '';
  // A file has brackets and quotes for it; a text of the environment may have spaces in place of commas.
  const commas = rule.startsWith('must be a list of') && name.at === undefined ? ', separated by commas' : '';
  throw new ConfigError(`${path} ${rule}${commas}, not ${shown(path, value)} (${where})`);
}

/** A rejected value for an error line. Never repeats a secret. */
function shown(path: string, value: unknown): string {
  const masked = maskSetting(path, value);
  return (JSON.stringify(masked) ?? String(masked)).slice(0, 80);
}

/** The whole tree. At this point only a custom tier or a query can lack a setting. */
function buildConfig(leaves: Leaves): Config {
  const result = configSchema.safeParse(unflatten(leaves));
  if (result.success) return result.data;
  const path = result.error.issues[0]?.path.join('.') ?? '';
  throw new ConfigError(
    missingQuerySetting(path) ??
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

/** Contradicting settings, and where each is set. */
function* findContradictions(config: Config, sources: Record<string, string>): Generator<string> {
  const { server, rpc, stream } = config;
  const at = (path: string) => `${path} (${sources[path]})`;

  const [urls, sockets] = [splitUrls(config.node_http), splitUrls(config.node_ws)];
  if (config.node_ws !== '' && sockets.length !== urls.length) {
    yield `${at('node_ws')} has ${sockets.length} of the WebSockets of the ${urls.length} nodes in ` +
      `${at('node_http')}: give one for each node, in the same order, or none`;
  }
  if (new Set(urls).size < urls.length) yield `${at('node_http')} has the same node twice`;

  if ((server.tls_cert === '') !== (server.tls_key === '')) {
    const [set, empty] = server.tls_cert
      ? ['server.tls_cert', 'server.tls_key']
      : ['server.tls_key', 'server.tls_cert'];
    yield `${at(set)} is set but ${empty} is empty: set both for TLS, or neither`;
  }
  if (server.public_explorer && server.public_key === 0) {
    throw new ConfigError(
      `${at('server.public_explorer')} needs server.public_key: the number of a key, as "atlas-node keys ` +
        'list" shows it',
    );
  }
  if (rpc.logs_node_range > rpc.logs_max_range) {
    yield `${at('rpc.logs_node_range')} must not be above ${at('rpc.logs_max_range')}`;
  }
  if (stream.ping_seconds >= stream.idle_seconds) {
    yield `${at('stream.ping_seconds')} must be below ${at('stream.idle_seconds')}`;
  }
  const listen = parseListen(config.metrics.listen);
  if (listen && listen.port !== 0 && listen.port === server.port && listen.host === server.host) {
    yield `${at('metrics.listen')} is the address of ${at('server.port')}: choose another port`;
  }
}

/** The tables of a TOML text. For a syntax error, throws a ConfigError with file and line. */
function parseToml(text: string, path: string): Table {
  try {
    return parse(text);
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const [reason = ''] = error.message.replace('Invalid TOML document: ', '').split('\n');
    const advice = quotesAdvice(text.split('\n')[error.line - 1] ?? '');
    const where = `${path} line ${error.line}, column ${error.column}`;
    throw new ConfigError(`${where}: not valid TOML: ${PLAIN_REASONS[reason] ?? reason}${advice}`);
  }
}

/** Plain words for the parser's messages. */
const PLAIN_REASONS: Partial<Record<string, string>> = {
  'control characters are not allowed in strings': 'the text has no closing quote, or a control character',
  'integer value cannot be represented losslessly': 'the number is too large',
  'trying to redefine an already defined table or value': 'this setting or table is there twice',
};

/** Advice for the commonest TOML mistake, a text without quotes; empty for other lines. */
function quotesAdvice(line: string): string {
  const [, name, value] = /^\s*([\w.-]+)\s*=\s*([^\s"'\d[{+-][^"'#]*?)\s*(?:#.*)?$/.exec(line) ?? [];
  if (name === undefined || value === undefined || /^(true|false|inf|nan)$/.test(value)) return '';
  const bare = value.replace(/^[“”„‘’]+|[“”‘’]+$/g, ''); // quotes of a word processor are none
  return `: put the text in quotes: ${name} = ${JSON.stringify(maskSetting(name, bare))}`;
}

/**
 * The line of a setting, from 1, or undefined if not found. Reads only headers and `key =`, so a setting in an inline
 * table is found at the table's line.
 */
export function lineOf(text: string, path: string): number | undefined {
  let table = '';
  let outer: number | undefined;
  let isWithinText = false;
  for (const [at, line] of text.split('\n').entries()) {
    const startsWithin = isWithinText;
    if ((line.match(/"""|'''/g) ?? []).length % 2 === 1) isWithinText = !isWithinText;
    if (startsWithin) continue; // a line of SQL may look like a setting
    const header = /^\s*\[\s*([^[\]]+?)\s*\]/.exec(line)?.[1];
    const key = /^\s*([\w."'-]+(?:\s*\.\s*[\w"'-]+)*)\s*=/.exec(line)?.[1];
    if (header !== undefined) table = plainPath(header);
    const here = header !== undefined ? table : key !== undefined ? joined(table, plainPath(key)) : undefined;
    if (here === path) return at + 1;
    if (here !== undefined && path.startsWith(`${here}.`)) outer = at + 1;
  }
  return outer;
}

function plainPath(path: string): string {
  return path.replace(/["'\s]/g, '');
}

function joined(table: string, key: string): string {
  return table === '' ? key : `${table}.${key}`;
}

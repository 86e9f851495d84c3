/** The sources of settings, each read into values by dotted path with their location. */
import { basename } from 'node:path';
import * as z from 'zod';
import { closestMatch } from '../lib/closest-match.ts';
import { ConfigError } from '../lib/errors.ts';
import type { SettingNames } from '../lib/setting-name.ts';
import { FLAGS, type FlagValues } from './flags.ts';
import type { Mistakes } from './mistakes.ts';
import {
  chosenNameError,
  flatten,
  isTable,
  isTableSchema,
  type Leaves,
  membersOf,
  schemaAt,
  type Table,
} from './tree.ts';

/** One given setting: `source` names its location for `config show`, `where` for an error, `name` for a message. */
export interface GivenSetting {
  name: SettingNames[string];
  path: string;
  value: unknown;
  source: string;
  where: string;
}

const ENV_PREFIX = 'ATLAS_';

/**
 * Variables that Kubernetes sets in every container for a service called `atlas` or `atlas-...`. They are not settings;
 * any other unknown variable with our prefix is a typo, such as ATLAS_SERVER_PORT=9000.
 */
const SERVICE_LINKS = [
  /^\w+_SERVICE_(HOST|PORT(_[A-Z0-9_]+)?)=/,
  /^\w+_PORT(=(tcp|udp|sctp):|_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?=)/,
];

/** The settings of a file; `lineOf` finds a setting's line for errors. */
export function fromFile(
  tree: Table,
  file: string,
  known: Leaves,
  lineOf: (path: string) => number | undefined,
  mistakes: Mistakes,
): GivenSetting[] {
  const source = `file ${file}`;
  const given: GivenSetting[] = [];
  for (const [path, value] of flatten(tree)) {
    const line = lineOf(path);
    const where = line === undefined ? file : `${file} line ${line}`;
    if (isEmptyTable(path, value)) continue;
    mistakes.attempt(() => {
      assertKnownSetting(path, path, where, known);
      const at = where.slice(file.length - basename(file).length);
      given.push({ path, value, source, where, name: { word: path, at } });
    });
  }
  return given;
}

/** The settings of the environment: `ATLAS_NODE_HTTP` is node_http, `ATLAS_SERVER__PORT` is server.port. */
export function fromEnv(
  env: Record<string, string | undefined>,
  known: Leaves,
  mistakes: Mistakes,
): GivenSetting[] {
  const given: GivenSetting[] = [];
  for (const [variable, text] of Object.entries(env)) {
    if (!variable.startsWith(ENV_PREFIX) || text === undefined) continue;
    const path = pathOf(variable);
    if (schemaAt(path) === undefined && SERVICE_LINKS.some((form) => form.test(`${variable}=${text}`)))
      continue;
    mistakes.attempt(() => {
      assertKnownSetting(path, variable, 'the environment', known, envName);
      const source = `env ${variable}`;
      given.push({
        path,
        value: parseSettingText(path, text),
        source,
        where: source,
        name: { word: variable },
      });
    });
  }
  return given;
}

export function fromFlags(flags: FlagValues): GivenSetting[] {
  const given: GivenSetting[] = [];
  for (const { flag, path } of FLAGS) {
    const text = flags[flag];
    if (text === undefined) continue;
    const source = `flag ${flag}`;
    const value = parseSettingText(path, text);
    given.push({ path, value, source, where: source, name: { word: flag } });
  }
  return given;
}

/** The setting of an environment variable, which cannot have the hyphens of a header's name. */
function pathOf(variable: string): string {
  const path = variable.slice(ENV_PREFIX.length).toLowerCase().replaceAll('__', '.');
  return path.startsWith('node.headers.') ? path.replaceAll('_', '-') : path;
}

/** Name of the environment variable of a setting. */
function envName(path: string): string {
  return ENV_PREFIX + path.replaceAll('.', '__').toUpperCase();
}

/** The value of a text: the first candidate that the schema accepts, else the likeliest one, for the error message. */
function parseSettingText(path: string, text: string): unknown {
  const schema = schemaAt(path);
  const candidates = parseCandidates(text);
  return (
    candidates.find((candidate) => schema && z.safeParse(schema, candidate).success) ?? candidates.at(-1)
  );
}

/** The items of a list: separated by commas, or as the file has them. */
function parseList(text: string): string[] {
  if (text === '') return [];
  const [, inBrackets] = /^\[(.*)\]$/s.exec(text) ?? [];
  const parts = (inBrackets ?? text).split(',').map((part) => part.trim());
  if (inBrackets === undefined) return parts;
  return parts.filter((part) => part !== '').map((part) => part.replace(/^(["'])(.*)\1$/s, '$2'));
}

function parseCandidates(text: string): unknown[] {
  const list = parseList(text);
  if (text === 'true' || text === 'false') return [text, list, text === 'true'];
  if (/^-?\d+(\.\d+)?$/.test(text)) return [text, list, Number(text)];
  // Several nodes are one text with commas.
  return text.startsWith('[') ? [text, list, list.join(','), text] : [text, list, text];
}

function isEmptyTable(path: string, value: unknown): boolean {
  const schema = schemaAt(path);
  return schema !== undefined && isTableSchema(schema) && isTable(value);
}

function assertKnownSetting(
  path: string,
  written: string,
  where: string,
  known: Leaves,
  formatName: (path: string) => string = (name) => name,
): void {
  const schema = schemaAt(path);
  if (schema !== undefined && !isTableSchema(schema)) return;
  if (schema !== undefined)
    throw new ConfigError(`${written} (${where}) is a table of settings, not a setting`);
  const nameError = chosenNameError(path);
  if (nameError !== undefined) throw new ConfigError(`${nameError} ("${written}" in ${where})`);
  const suggestion = closestMatch(path, settingsBeside(path) ?? known.keys());
  const hint = suggestion === undefined ? '' : `; did you mean "${formatName(suggestion)}"?`;
  throw new ConfigError(`unknown setting "${written}" in ${where}${hint}`);
}

/** The settings of a table within one that the operator named, such as a query; undefined for any other table. */
function settingsBeside(path: string): string[] | undefined {
  const table = path.slice(0, Math.max(path.lastIndexOf('.'), 0));
  if (!/^(tiers|queries)\./.test(table)) return undefined;
  return membersOf(table).map((name) => `${table}.${name}`);
}

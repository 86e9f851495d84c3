/**
 * `[queries.NAME]`: queries that keys may call by name. What is wrong with their SQL, src/daemon/named-queries.ts
 * finds.
 */
import * as z from 'zod';
import { closestMatch } from '../lib/closest-match.ts';
import { ADDRESS_PATTERN } from '../model/address.ts';
import {
  integerOf,
  MAX_INTEGER,
  MIN_INTEGER,
  type NamedQuery,
  QUERY_PARAMETER_TYPES,
  type QueryParameter,
  type QueryValue,
  RESERVED_PARAMETERS,
  textFault,
} from '../model/named-query.ts';
import { bool, choice, integer, nonEmptyString, text } from './values.ts';

/** Each is a route, a tool of /mcp and a part of /openapi.json. */
const MAX_QUERIES = 100;
const MAX_PARAMETERS = 20;
const MAX_NAME = 64;

const FORM = 'a lower-case letter, then such letters, digits and single underscores';
const NAME_PATTERN = /^[a-z][a-z0-9]*(_[a-z0-9]+)*$/;

function chosenName(what: string) {
  const error = `is not the name of ${what}: ${FORM}, at most ${MAX_NAME} in all`;
  return z.string({ error }).regex(NAME_PATTERN, { error }).max(MAX_NAME, { error });
}

function value(error: string) {
  return z.union([z.string(), z.int()], { error });
}

const PARAMETER_FORM =
  'must be "address", "integer" or "text", or a table with such a type, as { type = "integer", default = 10 }';

const parameter = z.strictObject({
  type: choice(QUERY_PARAMETER_TYPES),
  description: text().default(''),
  /** The value where the request gives none. Without it the parameter is required. */
  default: value('must be a text or a whole number').optional(),
  /** NULL where the request gives none. */
  optional: bool().default(false),
  /** Bounds of an integer; as a text beyond 2^53. */
  min: value('must be a whole number').optional(),
  max: value('must be a whole number').optional(),
});

const query = z.strictObject({
  /** One SELECT (docs/sql.md). */
  sql: nonEmptyString('one SELECT, in quotes'),
  description: text().default(''),
  /** Most rows of an answer, and the time that one may take, seconds. */
  limit: integer(1, 10_000).default(1_000),
  timeout_seconds: integer(1, 30).default(10),
  /** The tiers whose keys may call it; empty for every key but the public one. */
  tier: z
    .union([z.string(), z.array(z.string())], {
      error: 'must be the name of a tier, or a list of such names',
    })
    .default(''),
  /** By name: what `:name` in the SQL stands for. */
  params: z
    .record(
      chosenName('a parameter'),
      z.union([z.enum(QUERY_PARAMETER_TYPES), parameter], { error: PARAMETER_FORM }),
    )
    .default({}),
});

type QuerySettings = z.output<typeof query>;
type ParameterSettings = z.output<typeof parameter>;

export const queriesSchema = z.record(chosenName('a query'), query).default({});

/** What `[queries]` must have where it has none, in words; undefined for settings of other tables. */
export function missingQuerySetting(path: string): string | undefined {
  if (!path.startsWith('queries.')) return undefined;
  if (path.endsWith('.sql')) return `${path} is missing: a query needs its SQL`;
  return `${path} ${PARAMETER_FORM}`;
}

/** The queries of a configuration that `queryMistakes` found nothing wrong with. */
export function configuredQueries(queries: Readonly<Record<string, QuerySettings>>): NamedQuery[] {
  return Object.entries(queries).map(([name, settings]) => ({
    name,
    sql: settings.sql,
    description: settings.description,
    parameters: Object.entries(settings.params).map(([name, given]) => parameterOf(name, given)),
    tiers: tiersOf(settings),
    rows: settings.limit,
    timeoutMs: settings.timeout_seconds * 1000,
  }));
}

function tiersOf({ tier }: QuerySettings): string[] {
  const names = typeof tier === 'string' ? tier.split(',') : tier;
  return [...new Set(names.map((name) => name.trim()).filter((name) => name !== ''))];
}

function settingsOf(given: ParameterSettings['type'] | ParameterSettings): ParameterSettings {
  return typeof given === 'string' ? { type: given, description: '', optional: false } : given;
}

function parameterOf(name: string, given: QuerySettings['params'][string]): QueryParameter {
  const settings = settingsOf(given);
  const { type, description, optional, min, max } = settings;
  return {
    name,
    type,
    description,
    isRequired: settings.default === undefined && !optional,
    default: settings.default === undefined ? null : defaultOf(type, settings.default),
    min: integerOf(String(min)) ?? MIN_INTEGER,
    max: integerOf(String(max)) ?? MAX_INTEGER,
  };
}

function defaultOf(type: QueryParameter['type'], given: string | number): QueryValue {
  if (type === 'integer') return integerOf(String(given));
  return type === 'address' ? String(given).toLowerCase() : String(given);
}

/** What is wrong with the queries, and where. `at` names a setting with its place. */
export function* queryMistakes(
  queries: Readonly<Record<string, QuerySettings>>,
  tiers: readonly string[],
  at: (path: string) => string,
): Generator<string> {
  const names = Object.keys(queries);
  if (names.length > MAX_QUERIES)
    yield `${at('queries')} has ${names.length} queries, and may have ${MAX_QUERIES}: remove those that nobody calls`;
  for (const [name, settings] of Object.entries(queries)) {
    const path = `queries.${name}`;
    for (const tier of tiersOf(settings)) {
      if (tiers.includes(tier)) continue;
      const known = closestMatch(tier, tiers);
      const hint = known === undefined ? ` (${tiers.join(', ')})` : `; did you mean "${known}"?`;
      yield `${at(`${path}.tier`)} names "${tier}", which is no tier of the configuration${hint}`;
    }
    const parameters = Object.entries(settings.params);
    if (parameters.length > MAX_PARAMETERS)
      yield `${path}.params has ${parameters.length} parameters, and may have ${MAX_PARAMETERS}`;
    for (const [parameter, given] of parameters)
      yield* parameterMistakes(`${path}.params.${parameter}`, parameter, settingsOf(given), at);
  }
}

function* parameterMistakes(
  path: string,
  name: string,
  { type, optional, min, max, default: byDefault }: ParameterSettings,
  at: (path: string) => string,
): Generator<string> {
  if (RESERVED_PARAMETERS.includes(name))
    yield `${at(path)}: a request may have "${name}" for itself (${RESERVED_PARAMETERS.join(', ')}): choose ` +
      'another name';
  if (optional && byDefault !== undefined)
    yield `${at(`${path}.optional`)} means NULL without a value, and ${at(`${path}.default`)} means another ` +
      'one: remove one of them';
  const [lowest, highest] = [min, max].map((bound) => (bound === undefined ? undefined : String(bound)));
  for (const [word, bound] of [
    ['min', lowest],
    ['max', highest],
  ] as const) {
    if (bound === undefined) continue;
    if (type !== 'integer') yield `${at(`${path}.${word}`)} is for integers, and ${path} is a ${type}`;
    else if (integerOf(bound) === null)
      yield `${at(`${path}.${word}`)} must be a whole number of 64 bits, not ${bound}`;
  }
  const [from, to] = [integerOf(String(lowest)) ?? MIN_INTEGER, integerOf(String(highest)) ?? MAX_INTEGER];
  if (from > to) yield `${at(`${path}.min`)} is above ${at(`${path}.max`)}`;
  const fault = byDefault === undefined ? null : defaultFault(type, String(byDefault), from, to);
  if (fault !== null) yield `${at(`${path}.default`)} ${fault}`;
}

function defaultFault(type: QueryParameter['type'], given: string, from: bigint, to: bigint): string | null {
  if (type === 'text') return textFault(given);
  if (type === 'address')
    return ADDRESS_PATTERN.test(given) ? null : 'must be an address: 0x and 40 hex digits';
  const value = integerOf(given);
  return value !== null && value >= from && value <= to
    ? null
    : `must be a whole number from ${from} to ${to}`;
}

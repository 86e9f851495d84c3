/** `[queries.NAME]`: its forms, and what is wrong with it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ParsedConfig, parseConfig } from '../../src/config/parse-config.ts';
import { printConfig } from '../../src/config/print.ts';
import { configuredQueries } from '../../src/config/query-settings.ts';
import { mergeReload } from '../../src/config/reload.ts';
import { checkedQueries } from '../../src/daemon/named-queries.ts';
import { ConfigError } from '../../src/lib/errors.ts';
import { MAX_INTEGER, MIN_INTEGER } from '../../src/model/named-query.ts';

function fromToml(text: string): ParsedConfig {
  const { config, sources } = parseConfig({ file: { path: 'atlas.toml', text }, cwd: '/' });
  return { config, sources };
}

function refusals(text: string): readonly string[] {
  try {
    checkedQueries(fromToml(text).config);
  } catch (error) {
    assert.ok(error instanceof ConfigError, String(error));
    return error.mistakes;
  }
  return assert.fail('the configuration was accepted');
}

const TOP = `
[queries.top]
sql = """
SELECT holder_address FROM holders
  WHERE token_address = :token
  LIMIT :most"""
tier = ["pro", "growth"]
timeout_seconds = 3
[queries.top.params]
most = { type = "integer", default = 10, min = 1, max = "9223372036854775807" }
token = "address"
`;

test('a query is read with its parameters, from a file and from the environment', () => {
  const [top] = configuredQueries(fromToml(TOP).config.queries);
  const most = { name: 'most', type: 'integer', description: '', isRequired: false } as const;
  const token = { name: 'token', type: 'address', description: '', isRequired: true, default: null } as const;
  assert.deepEqual(top, {
    name: 'top',
    sql: 'SELECT holder_address FROM holders\n  WHERE token_address = :token\n  LIMIT :most',
    description: '',
    parameters: [
      { ...most, default: 10n, min: 1n, max: MAX_INTEGER },
      { ...token, min: MIN_INTEGER, max: MAX_INTEGER },
    ],
    tiers: ['pro', 'growth'],
    rows: 1_000,
    timeoutMs: 3_000,
  });
  const { config } = parseConfig({
    env: {
      ATLAS_QUERIES__TOP__SQL:
        'SELECT holder_address, 1 FROM holders WHERE token_address = :token LIMIT :most',
      ATLAS_QUERIES__TOP__PARAMS__TOKEN: 'address',
      ATLAS_QUERIES__TOP__PARAMS__MOST__TYPE: 'integer',
      ATLAS_QUERIES__TOP__PARAMS__MOST__DEFAULT: '-5',
      ATLAS_QUERIES__TOP__TIER: 'pro, free',
      ATLAS_QUERIES__TOP__LIMIT: '7',
    },
  });
  const [query] = checkedQueries(config);
  assert.deepEqual([query?.query.tiers, query?.query.rows], [['pro', 'free'], 7]);
  assert.equal(query?.query.parameters.find(({ name }) => name === 'most')?.default, -5n);
});

test('the effective configuration is printed as TOML that reads the same', () => {
  const mixed = `${TOP}last = { type = "text", optional = true }\nother = "text"\n`;
  const parsed = fromToml(mixed);
  const { config } = parseConfig({ file: { path: 'again.toml', text: printConfig(parsed) }, cwd: '/' });
  const sorted = ({ queries }: ParsedConfig['config']) =>
    configuredQueries(queries).map((query) => ({
      ...query,
      parameters: query.parameters.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    }));
  assert.deepEqual(sorted(config), sorted(parsed.config));
});

test('a mistake names its setting and the way out', () => {
  const cases: [toml: string, ...patterns: RegExp[]][] = [
    ['[queries.Top]\nsql = "SELECT 1"', /^"Top" is not the name of a query: a lower-case letter/],
    ['[queries.a__b]\nsql = "SELECT 1"', /is not the name of a query/],
    [`[queries.${'a'.repeat(65)}]\nsql = "SELECT 1"`, /is not the name of a query/],
    ['[queries.q]\nlimit = 4', /^queries\.q\.sql is missing: a query needs its SQL/],
    ['[queries.q]\nsql = ""', /^queries\.q\.sql must be one SELECT, in quotes/],
    [
      '[queries.q]\nsqll = "SELECT 1"',
      /unknown setting "queries\.q\.sqll" in atlas\.toml line 2; did you mean "queries\.q\.sql"\?/,
    ],
    ['[queries.q]\nsql = "SELECT 1"\nlimit = 10001', /limit must be a whole number from 1 to 10000/],
    [
      '[queries.q]\nsql = "SELECT 1"\ntimeout_seconds = 0',
      /timeout_seconds must be a whole number from 1 to 30/,
    ],
    [
      '[queries.q]\nsql = "SELECT 1"\ntier = "por"',
      /queries\.q\.tier \(atlas\.toml line 3\) names "por", .*did you mean "pro"\?/,
    ],
    [
      '[queries.q]\nsql = "SELECT :a"\nparams.a = "number"',
      /params\.a must be "address", "integer" or "text", or a table/,
    ],
    ['[queries.q]\nsql = "SELECT :a"\nparams.a = { default = 1 }', /params\.a must be "address"/],
    ['[queries.q]\nsql = "SELECT :A"\nparams.A = "text"', /"A" is not the name of a parameter/],
    ['[queries.q]\nsql = "SELECT :limit"\nparams.limit = "text"', /a request may have "limit" for itself/],
    [
      '[queries.q]\nsql = "SELECT :a"\nparams.a = { type = "text", default = "x", optional = true }',
      /means NULL/,
    ],
    ['[queries.q]\nsql = "SELECT :a"\nparams.a = { type = "text", min = 1 }', /min .* is for integers/],
    [
      '[queries.q]\nsql = "SELECT :a"\nparams.a = { type = "integer", min = 2, max = 1 }',
      /min .* is above .*max/,
    ],
    [
      '[queries.q]\nsql = "SELECT :a"\nparams.a = { type = "integer", max = "9223372036854775808" }',
      /must be a whole number of 64 bits/,
    ],
    [
      '[queries.q]\nsql = "SELECT :a"\nparams.a = { type = "integer", default = "x" }',
      /default .* must be a whole number from/,
    ],
    [
      '[queries.q]\nsql = "SELECT :a"\nparams.a = { type = "address", default = "0x12" }',
      /default .* must be an address/,
    ],
    [
      '[queries.q]\nsql = "SELECT :a"\nparams.a = { type = "text", default = "a\\u0000" }',
      /default .* without NUL/,
    ],
    ['[queries.q]\nsql = "DROP TABLE x"', /^queries\.q\.sql: only queries are run/],
    ['[queries.search]\nsql = "SELECT 1"', /^queries\.search\.sql: the API has an endpoint "search"/],
    ['[queries.queries]\nsql = "SELECT 1"', /the API has an endpoint "queries"/],
    ['[queries.batch]\nsql = "SELECT 1"', /the API has an endpoint "batch"/],
    [
      '[queries.q]\nsql = "SELECT :walet"\nparams.wallet = "address"\n[queries.r]\nsql = "SELECT :x"',
      /^queries\.q\.sql has :walet, which is no parameter of it: did you mean :wallet\?/,
      /^queries\.q\.params\.wallet: queries\.q\.sql has no :wallet: remove the parameter, or use it/,
      /^queries\.r\.sql has :x, .* add x = "address", "integer" or "text" to \[queries\.r\.params\]/,
    ],
  ];
  for (const [toml, ...patterns] of cases) {
    const found = refusals(toml);
    assert.equal(found.length, patterns.length, `${toml}: ${found.join(' | ')}`);
    for (const [i, pattern] of patterns.entries()) assert.match(found[i] ?? '', pattern, toml);
  }
  const many = Array.from({ length: 101 }, (_, i) => `[queries.q${i}]\nsql = "SELECT 1"\n`).join('');
  assert.match(refusals(many)[0] ?? '', /has 101 queries, and may have 100/);
  assert.match(refusals('[queries.q]\nsql = "SELECT 1"\n[queries.q]\nsql = "SELECT 2"')[0] ?? '', /line 3/);
});

test('lines within a text in three quotes are no settings', () => {
  const toml = '[queries.q]\nsql = """\nSELECT 1\nlimit = 3\n[server]\n"""\nlimit = 0\n';
  assert.match(refusals(toml)[0] ?? '', /limit must be .* \(atlas\.toml line 7\)/);
});

test('a reload takes, changes and removes queries', () => {
  const none = fromToml('');
  const added = mergeReload(none, fromToml(TOP));
  assert.deepEqual(added.ignored, []);
  assert.ok(added.changed.includes('queries.top.sql'));
  assert.deepEqual(Object.keys(added.parsed.config.queries), ['top']);
  const removed = mergeReload(added.parsed, none);
  assert.deepEqual(removed.parsed.config.queries, {});
});

/** A daemon takes named queries from its configuration, and other ones with a reload. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type ParsedConfig, parseConfig } from '../../src/config/parse-config.ts';
import { checkedQueries, runNamedQueries } from '../../src/daemon/named-queries.ts';
import { BusyError, FatalError, RequestError } from '../../src/lib/errors.ts';
import { QueryLimitError, QueryRefusal } from '../../src/sql/query-refusal.ts';
import { startTestDaemon } from '../support/daemon/daemon.ts';
import { tempDir } from '../support/temp-dir.ts';

const FLAGS = { '--node-http': 'http://127.0.0.1:9' };

function configOf(dataDir: string, env: Record<string, string>): ParsedConfig {
  return parseConfig({ env, flags: { ...FLAGS, '--data-dir': dataDir, '--port': '0' } });
}

async function offered(url: string): Promise<string[]> {
  const { paths } = Object(await (await fetch(`${url}/openapi.json`)).json());
  return Object.keys(paths).filter((path) => path.startsWith('/api/queries/'));
}

test('a reload changes the queries at once; a mistake in one changes nothing', async (t: TestContext) => {
  const dataDir = tempDir(t);
  const env = { ATLAS_QUERIES__ONE__SQL: 'SELECT 1 AS one' };
  const { daemon, url } = await startTestDaemon(t, { flags: FLAGS, env, dataDir });
  assert.deepEqual(await offered(url), ['/api/queries/one']);
  await daemon.reload(configOf(dataDir, { ...env, ATLAS_QUERIES__TWO__SQL: 'SELECT 2 AS two' }));
  assert.deepEqual(await offered(url), ['/api/queries/one', '/api/queries/two']);
  const wrong = configOf(dataDir, { ATLAS_QUERIES__TWO__SQL: 'SELECT missing FROM blocks' });
  await assert.rejects(daemon.reload(wrong), {
    name: 'ConfigError',
    message: /^queries\.two\.sql: no such column: missing; /,
  });
  assert.deepEqual(await offered(url), ['/api/queries/one', '/api/queries/two']);
  await daemon.reload(configOf(dataDir, {}));
  assert.deepEqual(await offered(url), []);
});

test('a daemon does not start with a query that cannot run', async (t) => {
  await assert.rejects(
    startTestDaemon(t, { flags: FLAGS, env: { ATLAS_QUERIES__BAD__SQL: 'DROP TABLE x' } }),
    {
      name: 'ConfigError',
      message: /^queries\.bad\.sql: only queries are run/,
    },
  );
});

test('who asks is told why there is no answer, without what belongs to the operator', async () => {
  const { config } = configOf('/', {
    ATLAS_QUERIES__ONE__SQL: 'SELECT 1',
    ATLAS_QUERIES__ONE__TIMEOUT_SECONDS: '3',
  });
  const [one] = checkedQueries(config);
  assert.ok(one);
  const told: [error: Error, status: number, code: string, message: RegExp, lines: number][] = [
    [new QueryRefusal('integer overflow'), 400, 'query_refused', /^integer overflow$/, 0],
    [new QueryLimitError('ended after 3 s', true), 503, 'timeout', /longer than its 3 s: ask for less$/, 1],
    [new QueryLimitError('ended: too much'), 503, 'query_ended', /^the query was ended: too much$/, 1],
    [new FatalError('no /secret/index.db'), 503, 'query_ended', /could not run on this server/, 1],
    [
      new RequestError(503, 'query_ended', 'no /secret'),
      503,
      'query_ended',
      /could not run on this server/,
      0,
    ],
    [new BusyError('2 queries run', 2), 429, 'busy', /^2 queries run$/, 0],
  ];
  for (const [error, status, code, message, lines] of told) {
    const logged: object[] = [];
    const note = (fields: object) => void logged.push(fields);
    const log = { debug: note, info: note, warn: note, error: note };
    const run = runNamedQueries({ run: () => Promise.reject(error) }, log);
    const asked = run({ query: one.query, values: {}, rows: 1, signal: undefined });
    await assert.rejects(asked, {
      name: error instanceof BusyError ? 'BusyError' : 'RequestError',
      status,
      code,
      message,
    });
    assert.equal(logged.length, lines, error.message);
  }
});

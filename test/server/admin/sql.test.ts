import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RequestError } from '../../../src/lib/errors.ts';
import type { AdminSql, SqlAnswer } from '../../../src/server/admin/sql.ts';
import { waitFor } from '../../support/wait.ts';
import { operate, TOKEN } from '../operating.ts';

const ANSWER: SqlAnswer = {
  columns: ['a'],
  rows: [[1]],
  cut: null,
  head: { number: 7, hash: '0x00', timestamp: 1 },
  gaps: 0,
  damage: null,
  plan: [],
  notes: [],
};

test('the operator alone can ask with SQL', async (t) => {
  const asked: [query: string, rows: number][] = [];
  let endless: AbortSignal | undefined;
  const sql: AdminSql = {
    describe: () => ({
      tables: [],
      functions: [],
      running: 1,
      reading: 0,
      oldestMs: null,
      waiting: 0,
      logBytes: 0,
      logLimitBytes: 1,
    }),
    async run(query, rows, signal) {
      asked.push([query, rows]);
      if (query === 'for ever') {
        endless = signal;
        await new Promise((resolve) => signal?.addEventListener('abort', resolve));
      }
      if (query === 'DELETE') throw new RequestError(400, 'query_refused', 'only queries are run');
      return ANSWER;
    },
  };
  const { operate: call, server } = await operate(t, { sql });
  const post = (body: object) =>
    call('/sql', {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { 'Content-Type': 'application/json' },
    });

  assert.equal(JSON.parse(await (await call('/sql')).text()).running, 1);
  assert.deepEqual(await (await post({ query: 'SELECT 1 AS a' })).json(), ANSWER);
  await post({ query: 'SELECT 2', limit: 5 });
  assert.deepEqual(asked, [
    ['SELECT 1 AS a', 1_000],
    ['SELECT 2', 5],
  ]);

  const refused = await post({ query: 'DELETE' });
  assert.equal(refused.status, 400);
  assert.deepEqual(JSON.parse(await refused.text()).error, {
    code: 'query_refused',
    message: 'only queries are run',
  });
  for (const body of [
    {},
    { query: '' },
    { query: 'SELECT 1', limit: 0 },
    { query: 'SELECT 1', limit: 10_001 },
  ])
    assert.equal((await post(body)).status, 400);

  const leaving = new AbortController();
  const left = fetch(`${server.url}/admin/api/sql`, {
    method: 'POST',
    body: JSON.stringify({ query: 'for ever' }),
    headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${TOKEN}` },
    signal: leaving.signal,
  });
  await waitFor(() => endless !== undefined, { what: 'the query to begin' });
  leaving.abort();
  await assert.rejects(left);
  await waitFor(() => endless?.aborted, { what: 'the end of the query whose client has left' });

  const { length } = asked;
  const credentials: Record<string, string>[] = [
    {},
    { Authorization: 'Bearer wrong' },
    { 'X-API-Key': 'atlas_key' },
  ];
  for (const headers of credentials) {
    const answer = await fetch(`${server.url}/admin/api/sql`, {
      method: 'POST',
      body: JSON.stringify({ query: 'SELECT 1' }),
      headers: { 'Content-Type': 'application/json', ...headers },
    });
    assert.equal(answer.status, 401);
  }
  assert.equal(asked.length, length);
});

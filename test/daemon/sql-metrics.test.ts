/** The metrics of SQL queries. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { trackQueries } from '../../src/daemon/sql.ts';
import { createMetrics } from '../../src/metrics/metrics.ts';
import { QueryPool } from '../../src/sql/process/query-pool.ts';
import { createIndex } from '../support/index/index-fixture.ts';

test('the metrics count the queries that ran by how they ended, and those that run', async (t) => {
  const fixture = createIndex(t, 1);
  fixture.append([{ one: [{ from: 'a', to: 'b', amount: 5n }] }]);
  const pool = new QueryPool(fixture.path, {});
  t.after(() => pool.close());
  const metrics = createMetrics();
  t.after(() => metrics.close());
  trackQueries(metrics, pool);

  const limits = { rows: 10, bytes: 1_000 };
  const left = new AbortController();
  const running = pool.run({ text: 'SELECT 1', limits });
  assert.match(await metrics.render(), /^atlas_sql_queries\{state="running"\} 1$/m);
  await running;
  await assert.rejects(pool.run({ text: 'DELETE FROM blocks', limits }));
  left.abort();
  await assert.rejects(pool.run({ text: 'SELECT 1', limits }, { signal: left.signal }));

  const text = await metrics.render();
  const ended = { answered: 1, refused: 1, busy: 0, stopped: 1, timeout: 0, limit: 0, failed: 0 };
  for (const [outcome, total] of Object.entries(ended))
    assert.match(text, new RegExp(`^atlas_sql_queries_ended_total\\{outcome="${outcome}"\\} ${total}$`, 'm'));
  for (const state of ['running', 'waiting'])
    assert.match(text, new RegExp(`^atlas_sql_queries\\{state="${state}"\\} 0$`, 'm'));
  assert.match(text, /^atlas_sql_reading_queries 0$/m);
});

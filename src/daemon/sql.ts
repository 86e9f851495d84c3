/** Queries of the operator's panel. */
import { FatalError, RequestError } from '../lib/errors.ts';
import { type Metrics, trackTotal } from '../metrics/metrics.ts';
import type { AdminSql } from '../server/admin/sql.ts';
import { FUNCTIONS } from '../sql/functions.ts';
import type { QueryPool } from '../sql/process/query-pool.ts';
import { QueryLimitError, QueryRefusal } from '../sql/query-refusal.ts';
import { SHAPES } from '../sql/tables/tables.ts';

/** Bytes of an answer: what a page shows without trouble. */
const MAX_BYTES = 2 * 2 ** 20;

export function adminSql(pool: QueryPool): AdminSql {
  const tables = SHAPES.map(({ name, description, columns }) => ({
    name,
    description,
    columns: columns.map((column) => ({ name: column.name, type: column.type })),
  }));
  const functions = FUNCTIONS.map(({ signature, description }) => ({ signature, description }));
  return {
    describe: () => ({ tables, functions, ...pool.state() }),
    async run(query, rows, signal) {
      try {
        const limits = { rows, bytes: MAX_BYTES };
        return await pool.run({ text: query, limits }, signal && { signal });
      } catch (error) {
        if (error instanceof QueryRefusal) throw new RequestError(400, 'query_refused', error.message);
        // The operator is told whatever happened to the process, too.
        if (error instanceof QueryLimitError || error instanceof FatalError)
          throw new RequestError(503, 'query_ended', error.message);
        throw error;
      }
    },
  };
}

type SqlMetrics = Pick<Metrics, 'onCollect' | 'sqlQueries' | 'sqlEnded' | 'sqlReading'>;

/** Sets the metrics of queries when they are scraped. */
export function trackQueries(metrics: SqlMetrics, pool: Pick<QueryPool, 'state' | 'ended'>): void {
  const ended = trackTotal(metrics.sqlEnded);
  metrics.onCollect(() => {
    const { running, waiting, reading } = pool.state();
    metrics.sqlQueries.set({ state: 'running' }, running);
    metrics.sqlQueries.set({ state: 'waiting' }, waiting);
    metrics.sqlReading.set(reading);
    for (const [outcome, total] of Object.entries(pool.ended)) ended(total, { outcome });
  });
}

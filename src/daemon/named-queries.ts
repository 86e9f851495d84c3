/** The operator's named queries: checks their SQL, runs them in the pool, and replaces them on a reload. */
import { ENDPOINTS } from '../api/endpoints/endpoints.ts';
import type { OfferedQuery, QueryRows, QueryRun, RunQuery } from '../api/queries/named-queries.ts';
import type { Config } from '../config/parse-config.ts';
import { configuredQueries } from '../config/query-settings.ts';
import { closestMatch } from '../lib/closest-match.ts';
import { ConfigError, FatalError, RequestError } from '../lib/errors.ts';
import { settingName } from '../lib/setting-name.ts';
import type { Logger } from '../log/logger.ts';
import type { NamedQuery } from '../model/named-query.ts';
import { type CheckedQuery, checkQuery } from '../sql/check-query.ts';
import { spelledAsStored } from '../sql/plan/literals.ts';
import type { QueryPool } from '../sql/process/query-pool.ts';
import { QueryLimitError, QueryRefusal } from '../sql/query-refusal.ts';
import type { QueryPlan } from '../sql/session.ts';
import { uniqueNames } from '../sql/unique-names.ts';

/** Bytes of an answer, which the serving thread writes. */
const MAX_BYTES = 2 * 2 ** 20;

export interface ConfiguredQuery extends OfferedQuery {
  /** The tables of which it reads all rows. */
  scanned: readonly string[];
  /** What its author certainly does not mean. */
  notes: readonly string[];
}

/** The queries of a configuration. Throws a ConfigError with all mistakes in their SQL and their names. */
export function checkedQueries({ queries }: Pick<Config, 'queries'>): ConfiguredQuery[] {
  const mistakes: string[] = [];
  const offered = configuredQueries(queries).flatMap((query): ConfiguredQuery[] => {
    const path = `queries.${query.name}`;
    const sql = settingName(`${path}.sql`);
    if (TAKEN.has(query.name))
      mistakes.push(`${sql}: the API has an endpoint "${query.name}": choose another name for the query`);
    const checked = checkedOrRefused(query);
    if (typeof checked === 'string') {
      mistakes.push(`${sql}: ${checked}`);
      return [];
    }
    mistakes.push(...parameterMistakes(query, checked, sql));
    const { isRepeatable, scanned, notes } = checked;
    return [{ query, columns: uniqueNames(checked.columns), isRepeatable, scanned, notes }];
  });
  if (mistakes.length > 0) throw new ConfigError(mistakes);
  return offered;
}

/** A query has an operation in /openapi.json and a tool of /mcp by its name. */
const TAKEN = new Set(ENDPOINTS.map(({ path }) => path.slice(path.lastIndexOf('/') + 1)));

/** Why the query cannot run, or what it is. */
function checkedOrRefused({ sql }: NamedQuery): CheckedQuery | string {
  try {
    return checkQuery(sql);
  } catch (error) {
    if (error instanceof QueryRefusal) return error.message;
    throw error;
  }
}

function* parameterMistakes(
  { name, parameters }: NamedQuery,
  { parameters: used }: CheckedQuery,
  sql: string,
): Generator<string> {
  const declared = parameters.map((parameter) => parameter.name);
  for (const parameter of used) {
    if (declared.includes(parameter)) continue;
    const known = closestMatch(parameter, declared);
    const advice =
      known === undefined
        ? `add ${parameter} = "address", "integer" or "text" to [queries.${name}.params]`
        : `did you mean :${known}?`;
    yield `${sql} has :${parameter}, which is no parameter of it: ${advice}`;
  }
  for (const parameter of declared)
    if (!used.includes(parameter))
      yield `queries.${name}.params.${parameter}: ${sql} has no :${parameter}: remove the parameter, or use it`;
}

/** Runs named queries. An error that its caller cannot mend is logged with the name of the query. */
export function runNamedQueries(pool: Pick<QueryPool, 'run'>, log: Logger): RunQuery {
  return async ({ query, values, rows, signal }: QueryRun): Promise<QueryRows> => {
    const parameters = Object.fromEntries(
      Object.entries(values).map(([name, value]) => [
        name,
        typeof value === 'string' ? spelledAsStored(value) : value,
      ]),
    );
    const request = { text: query.sql, limits: { rows, bytes: MAX_BYTES }, parameters };
    const options = { timeoutMs: query.timeoutMs, ...(signal && { signal }) };
    try {
      const answer = await pool.run(request, options);
      return { ...answer, head: { ...answer.head, hash: `0x${answer.head.hash.slice(2)}` } };
    } catch (error) {
      throw toRequestError(query, error, signal?.aborted ?? false, log);
    }
  };
}

function toRequestError(query: NamedQuery, error: unknown, hasLeft: boolean, log: Logger): unknown {
  if (error instanceof QueryRefusal) return new RequestError(400, 'query_refused', error.message);
  if (error instanceof QueryLimitError) {
    const reason = error.isTimeout
      ? `the query took longer than its ${query.timeoutMs / 1000} s`
      : `the query was ${error.message}`;
    if (!hasLeft) log.warn({ query: query.name, reason }, 'a named query was ended');
    return error.isTimeout
      ? new RequestError(503, 'timeout', `${reason}: ask for less`)
      : new RequestError(503, 'query_ended', reason);
  }
  if (error instanceof FatalError)
    log.error({ query: query.name, reason: error.message }, 'a named query could not run');
  // The pool tells the operator why no process starts, with paths of this machine.
  const isOfProcess = error instanceof RequestError && error.code === 'query_ended';
  return isOfProcess || error instanceof FatalError
    ? new RequestError(503, 'query_ended', 'the query could not run on this server: try again')
    : error;
}

/**
 * Warns of queries that read whole tables, with the number of rows, which the pool tells without running them. Settles
 * when all are told.
 */
export async function warnOfScans(
  queries: readonly ConfiguredQuery[],
  pool: QueryPool,
  log: Logger,
): Promise<void> {
  for (const { query, scanned } of queries) {
    const warn = (table: string, rows: number | null) =>
      log.warn(
        { query: query.name, table, rows },
        'a named query reads a whole table: no condition leads to an index',
      );
    if (scanned.length === 0) continue;
    const parameters = Object.fromEntries(query.parameters.map(({ name }) => [name, null]));
    const request = { text: `EXPLAIN ${query.sql}`, limits: { rows: 1, bytes: MAX_BYTES }, parameters };
    const onPlan = ({ plan }: QueryPlan) => {
      for (const { table, scannedRows } of plan) if (scannedRows !== null) warn(table, scannedRows);
    };
    await pool.run(request, { onPlan }).catch((error: unknown) => {
      if (error instanceof FatalError) for (const table of scanned) warn(table, null); // nothing is indexed yet
    });
  }
}

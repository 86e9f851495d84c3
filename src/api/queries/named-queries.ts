/** The named queries that are offered: a reload of the configuration replaces them while requests arrive. */
import { RequestError } from '../../lib/errors.ts';
import type { Hex } from '../../lib/hex.ts';
import { secondsToIso } from '../../lib/time.ts';
import type { NamedQuery, QueryValue } from '../../model/named-query.ts';
import type { Db } from '../../store/open-database.ts';
import type { NamedTraits, PreparedEndpoint, QueryCaller } from '../api.ts';
import { apiResult, inputParser } from '../endpoint.ts';
import { parseSeen, prepareRequireSeen } from '../seen.ts';
import { queryEndpoint } from './query-endpoint.ts';
import type { QueryListing } from './query-listing.ts';

/** The answer of a query, and the commit that it was read from. */
export interface QueryRows {
  rows: (string | number | null)[][];
  cut: 'rows' | 'bytes' | null;
  head: { number: number; hash: Hex; timestamp: number };
  startBlock: number;
  gaps: number;
  damage: string | null;
}

export interface QueryRun {
  query: NamedQuery;
  values: Readonly<Record<string, QueryValue>>;
  /** Most rows. */
  rows: number;
  signal: AbortSignal | undefined;
}

/** Rejects with RequestError. */
export type RunQuery = (run: QueryRun) => Promise<QueryRows>;

/** A query that was found to be sound. */
export interface OfferedQuery {
  query: NamedQuery;
  columns: readonly string[];
  /** Whether the same commit always gives the same answer. */
  isRepeatable: boolean;
}

export interface PreparedQuery extends PreparedEndpoint {
  query: NamedQuery;
  named: NamedTraits;
}

export class NamedQueries implements QueryListing {
  /** Another array after each change. */
  prepared: readonly PreparedQuery[] = [];
  listed: readonly OfferedQuery[] = [];
  revision = 0;
  private byName = new Map<string, PreparedQuery>();
  private readonly run: RunQuery;
  private readonly requireSeen: ReturnType<typeof prepareRequireSeen>;

  /** `db`: of the serving thread. `maxReorg`: `index.max_reorg`. */
  constructor(run: RunQuery, { db, maxReorg }: { db: Db; maxReorg: number }) {
    this.run = run;
    this.requireSeen = prepareRequireSeen(db, maxReorg);
  }

  /** Replaces the queries that are offered. */
  offer(queries: readonly OfferedQuery[]): void {
    this.listed = queries;
    this.prepared = queries.map((offered) => this.prepare(offered));
    this.byName = new Map(this.prepared.map((prepared) => [prepared.query.name, prepared]));
    this.revision++;
  }

  get(name: string): PreparedQuery | undefined {
    return this.byName.get(name);
  }

  private prepare({ query, columns, isRepeatable }: OfferedQuery): PreparedQuery {
    const endpoint = queryEndpoint(query, columns);
    const parse = inputParser(endpoint.params, 'invalid_parameter');
    const handle: PreparedEndpoint['handle'] = async (input, { head, signal }) => {
      const { limit, seen, ...given } = parse(input);
      if (typeof seen === 'string') this.requireSeen(parseSeen(seen), head, 'seen');
      const values = Object.fromEntries(query.parameters.map(({ name }) => [name, boundValue(given[name])]));
      const found = await this.run({ query, values, rows: Number(limit), signal });
      const { number, hash, timestamp } = found.head;
      // Marks of rewrites and revisions are from before the run, so the tag of the answer is never too new.
      const readAt = { ...head, number, hash, timestamp, hashPrefix: hash.slice(2, 18) };
      const result = apiResult(endpoint, input, answerOf(query, columns, found), {
        head: readAt,
        unexamined: [],
      });
      return found.cut === null ? result : { ...result, cut: found.cut };
    };
    const named: NamedTraits = {
      isRepeatable,
      mayCall: (caller) => mayCall(query, caller),
      requireCaller: (caller) => requireTier(query, caller),
    };
    return { endpoint, handle, query, named };
  }
}

function boundValue(given: unknown): QueryValue {
  return typeof given === 'string' || typeof given === 'bigint' ? given : null;
}

function answerOf(
  { name }: NamedQuery,
  columns: readonly string[],
  { rows, cut, head, startBlock, gaps, damage }: QueryRows,
): object {
  return {
    name,
    columns,
    rows: rows.map((row) => Object.fromEntries(row.map((value, i) => [columns[i], value]))),
    count: rows.length,
    cut,
    head: { blockNumber: head.number, blockHash: head.hash, timestamp: secondsToIso(head.timestamp) },
    gaps,
    damage,
    historicalCoverageStartBlock: startBlock,
  };
}

/** Whether the caller may call the query. */
function mayCall({ tiers }: NamedQuery, { tier, isPublic }: QueryCaller): boolean {
  return tiers.length === 0 ? !isPublic : tiers.includes(tier);
}

/** Throws RequestError `tier_limit` unless the caller may call the query. */
function requireTier(query: NamedQuery, caller: QueryCaller): void {
  if (mayCall(query, caller)) return;
  const { name, tiers } = query;
  throw new RequestError(
    403,
    'tier_limit',
    tiers.length === 0
      ? `the query ${name} is not for visitors: send a key of your own in X-API-Key`
      : `the query ${name} is for keys of the ${tiers.length === 1 ? 'tier' : 'tiers'} ` +
          `${tiers.join(', ')}, ` +
          `and this one is of the tier ${caller.tier}`,
  );
}

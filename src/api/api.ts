/** The REST API over one index: endpoints with prepared statements, and the commit that they read. */
import type { Head, Snapshot } from '../query/snapshot.ts';
import { OverBudgetError, unitBudget } from '../query/work-budget.ts';
import type { Caller, Endpoint, IndexSource } from './endpoint.ts';
import { ENDPOINTS } from './endpoints.ts';
import type { ReadPool } from './read-pool.ts';
import type { ApiResult } from './reader-protocol.ts';

/** Most units of work (query/work-budget.ts) that one answer may cost the event loop: at most 2 ms, mostly less. */
const LOOP_BUDGET = 20_000;

export interface PreparedEndpoint {
  endpoint: Endpoint;
  /**
   * The answer to `input` (the query's text values, or the parsed body of a POST); long work is done by a read thread.
   * The caller's head is the one that `head()` returned in this turn of the event loop. Throws or rejects with
   * RequestError when it cannot be answered.
   */
  handle(input: unknown, caller: Caller): ApiResult | Promise<ApiResult>;
}

export interface Api {
  endpoints: readonly PreparedEndpoint[];
  /** The head of the commit from which answers are read now; null before the first indexed block. */
  head(): Head | null;
}

/** Prepares all statements, so that bad SQL fails at boot. `snapshot` is of the same connection as `source`. */
export function prepareApi(source: IndexSource, snapshot: Snapshot, readers: Pick<ReadPool, 'run'>): Api {
  return {
    endpoints: ENDPOINTS.map((endpoint) => {
      const handler = endpoint.prepare(source);
      return {
        endpoint,
        handle(input, { head, chainDepth }) {
          try {
            const result = handler(input, { head, chainDepth, budget: unitBudget(LOOP_BUDGET) });
            return { head, body: JSON.stringify(result) };
          } catch (error) {
            if (error instanceof OverBudgetError) return readers.run(endpoint.path, input, chainDepth, head);
            throw error;
          }
        },
      };
    }),
    head: () => snapshot.head(),
  };
}

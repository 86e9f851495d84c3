/** The REST API over one index: endpoints with their statements prepared, and the commit they read. */
import type { Snapshot } from '../query/snapshot.ts';
import type { Answer, Context, Endpoint, IndexSource } from './endpoint.ts';
import { ENDPOINTS } from './index.ts';

export interface PreparedEndpoint {
  endpoint: Endpoint;
  answer: Answer;
}

export interface Api {
  endpoints: readonly PreparedEndpoint[];
  /** The head of the commit that answers given now are of; null before the first indexed block. */
  head(): Context['head'] | null;
}

/** Prepares all statements, so that bad SQL fails at boot. `snapshot` is of the same connection as `source`. */
export function prepareApi(source: IndexSource, snapshot: Snapshot): Api {
  return {
    endpoints: ENDPOINTS.map((endpoint) => ({ endpoint, answer: endpoint.prepare(source) })),
    head: () => snapshot.head(),
  };
}

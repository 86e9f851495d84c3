/** The answer of GET /api/queries: each named query with its parameters and limits. */
import type { NamedQuery } from '../../model/named-query.ts';

export interface QueryListing {
  listed: readonly { query: NamedQuery; columns: readonly string[] }[];
  /** Changes with the queries. */
  revision: number;
}

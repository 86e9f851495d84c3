/** What GET /api/queries tells of the named queries. */
import type { NamedQuery } from '../../model/named-query.ts';

export interface QueryListing {
  listed: readonly { query: NamedQuery; columns: readonly string[] }[];
  /** Changes with the queries. */
  revision: number;
}

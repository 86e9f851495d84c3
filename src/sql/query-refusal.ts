/** Why a query has no answer, in one line that its author can act on. */

/** A query that is not run, or fails by its own fault. */
export class QueryRefusal extends Error {
  override name = 'QueryRefusal';
}

/** A query that was ended because it took too much of something. */
export class QueryLimitError extends Error {
  override name = 'QueryLimitError';
}

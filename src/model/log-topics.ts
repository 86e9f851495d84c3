/** The topics of a log filter, with one meaning on HTTP and in streams; nodes disagree about trailing wildcards. */

/** Most positions. A log has at most as many topics. */
export const MAX_TOPICS = 4;

/** The refusal of topics with too many positions; null for any others. */
export function topicsMistake(topics: unknown): string | null {
  const tooMany = Array.isArray(topics) && topics.length > MAX_TOPICS;
  return tooMany ? `topics has more than ${MAX_TOPICS} positions` : null;
}

/** Whether a position matches any topic: null, an empty list, or a list with null among its alternatives. */
export function isWildcard(position: unknown): boolean {
  if (Array.isArray(position)) return position.length === 0 || position.includes(null);
  return position === null || position === undefined;
}

/**
 * The positions up to the last that selects something. With wildcards behind it, geth would require that many topics
 * of a log; reth, anvil and Monad ignore them, and so do clients' authors. The same array when there are none.
 */
export function withoutTrailingWildcards(topics: readonly unknown[]): readonly unknown[] {
  let end = topics.length;
  while (end > 0 && isWildcard(topics[end - 1])) end--;
  return end === topics.length ? topics : topics.slice(0, end);
}

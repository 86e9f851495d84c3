/** Suggestions for mistyped names of tables, columns and functions. */
import { closestMatch } from '../../lib/closest-match.ts';

/** Names in a query may be as long as the query, and a comparison takes the product of the lengths. */
const MAX_CHARACTERS = 40;

export function closestName(mistyped: string, names: readonly string[]): string | undefined {
  return mistyped.length > MAX_CHARACTERS ? undefined : closestMatch(mistyped, names);
}

/** Unknown members of filters are refused, because ignoring a typo would select far more than intended. */
import { closestMatch } from '../lib/closest-match.ts';

/** Longest name to compare and quote. A client may send a megabyte. */
const MAX_NAME_LENGTH = 40;

/** Names that other filters use for the same thing. */
const SYNONYMS: readonly (readonly string[])[] = [
  ['address', 'addresses', 'wallet', 'wallets', 'account', 'accounts'],
  ['token', 'tokens', 'tokenAddress', 'tokenAddresses', 'contract', 'contracts'],
  ['event', 'events', 'type', 'types'],
  ['minMon', 'minNative', 'minValue', 'min_mon', 'threshold'],
];

/** The refusal of a filter with a member not in `known`, which suggests the closest one; null without such a member. */
export function unknownMemberText(filter: object, known: readonly string[]): string | null {
  const unknown = Object.keys(filter).find((name) => !known.includes(name));
  if (unknown === undefined) return null;
  const name = unknown.slice(0, MAX_NAME_LENGTH);
  const suggestion = synonym(name, known) ?? closestMatch(name, known);
  const hint = suggestion === undefined ? '' : ` (did you mean "${suggestion}"?)`;
  return `unknown filter member "${name}"${hint}; the members are ${known.join(', ')}`;
}

function synonym(name: string, known: readonly string[]): string | undefined {
  const group = SYNONYMS.find((names) => names.includes(name));
  return group && known.find((member) => group.includes(member));
}

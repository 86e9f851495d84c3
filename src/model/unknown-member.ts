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

/** Most unknown names to quote. */
const MAX_QUOTED = 5;

/**
 * The refusal of an object with members not in `known`: quotes them and suggests the closest known ones. Null without
 * such a member. `what` is what a member is called.
 */
export function unknownMemberText(
  object: object,
  known: readonly string[],
  what = 'filter member',
): string | null {
  const unknown = Object.keys(object).filter((name) => !known.includes(name));
  if (unknown.length === 0) return null;
  const quoted = unknown.slice(0, MAX_QUOTED).map((full) => {
    const name = full.slice(0, MAX_NAME_LENGTH);
    const suggestion = synonym(name, known) ?? closestMatch(name, known);
    return `"${name}"${suggestion === undefined ? '' : ` (did you mean "${suggestion}"?)`}`;
  });
  const noun = what.slice(what.lastIndexOf(' ') + 1);
  return `unknown ${what} ${quoted.join(', ')}; the ${noun}s are ${known.join(', ')}`;
}

function synonym(name: string, known: readonly string[]): string | undefined {
  const group = SYNONYMS.find((names) => names.includes(name));
  return group && known.find((member) => group.includes(member));
}

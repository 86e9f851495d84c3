/** Refuses unknown filter members. Ignoring a typo would select far more than intended. */
import { closestMatch } from '../lib/closest-match.ts';
import { invalidParams } from './subscribe-errors.ts';

/** Longest name to compare and quote. A client may send a megabyte. */
const MAX_NAME_LENGTH = 40;

/** Names that other filters use for the same thing. */
const SYNONYMS: readonly (readonly string[])[] = [
  ['address', 'addresses', 'wallet', 'wallets', 'account', 'accounts'],
  ['token', 'tokens', 'tokenAddress', 'tokenAddresses', 'contract', 'contracts'],
  ['event', 'events', 'type', 'types'],
  ['minMon', 'minNative', 'minValue', 'min_mon', 'threshold'],
];

/** Throws RequestError `invalid_params` for a member not in `known` and suggests the closest one. */
export function assertKnownMembers(filter: object, known: readonly string[]): void {
  const unknown = Object.keys(filter).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const name = unknown.slice(0, MAX_NAME_LENGTH);
  const suggestion = synonym(name, known) ?? closestMatch(name, known);
  const hint = suggestion === undefined ? '' : ` (did you mean "${suggestion}"?)`;
  throw invalidParams(`unknown filter member "${name}"${hint}; the members are ${known.join(', ')}`);
}

/** The filter in the parameters, if any. Throws RequestError `invalid_params` if there are several. */
export function onlyFilter(params: readonly unknown[]): unknown {
  if (params.length > 1) throw invalidParams('a subscription takes one filter object, not several');
  return params[0];
}

function synonym(name: string, known: readonly string[]): string | undefined {
  const group = SYNONYMS.find((names) => names.includes(name));
  return group && known.find((member) => group.includes(member));
}

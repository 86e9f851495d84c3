/**
 * Errors of subscribe requests. The endpoints map them to their own error codes. Unknown filter members are refused,
 * because ignoring a typo would select far more than intended.
 */
import { closestMatch } from '../lib/closest-match.ts';
import { RequestError, UpstreamError } from '../lib/errors.ts';

export function invalidParams(message: string): RequestError {
  return new RequestError(400, 'invalid_params', message);
}

export function unknownSubscription(name: string): RequestError {
  return new RequestError(400, 'unknown_subscription', `no "${name.slice(0, 64)}" subscription here`);
}

export function subscriptionNotFound(): RequestError {
  return new RequestError(404, 'not_found', 'subscription not found');
}

export function subscriptionLimitReached(): RequestError {
  return new RequestError(429, 'limit_exceeded', 'subscription limit reached');
}

/** Awaits a node call made for a subscribe. Rejects with RequestError `upstream` if the node does not answer. */
export async function awaitUpstream<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error;
    const message = error.reason === 'timeout' ? 'upstream timeout' : 'upstream unavailable';
    throw new RequestError(502, 'upstream', message);
  }
}

/** The index is being rolled back, or the indexer is stuck in a rollback. */
export function indexRollingBack(): RequestError {
  return new RequestError(503, 'not_ready', 'the index is being rolled back; try again');
}

/** What a client saw is no longer known: the block is neither indexed nor among the reverted ones in memory, or was rewritten. */
export function unknownLastSeen(): RequestError {
  return invalidParams(
    'the block of lastSeen is no longer known, or a repair has rewritten it: reload your stored data, then subscribe without lastSeen',
  );
}

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

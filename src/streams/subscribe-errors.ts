/** Errors of subscribe requests. The endpoints map them to their own error codes. */
import { RequestError, UpstreamError } from '../lib/errors.ts';
import { unknownMemberText } from '../model/unknown-member.ts';
import { jsonOf } from '../node/reply.ts';

export function invalidParams(message: string): RequestError {
  return new RequestError(400, 'invalid_params', message);
}

/** The refusal of a subscription for which the node has no WebSocket, or that it does not announce. */
export function notOffered(topic: string): RequestError {
  return invalidParams(`${topic} is not offered by the node`);
}

/** The node refuses a subscription. The client gets the node's own error. */
export class NodeRefusal extends RequestError {
  /** The error object of the node, as JSON text. */
  readonly json: string;
  constructor(json: string, message: string) {
    super(502, 'upstream', message);
    this.json = json;
  }
}

/** Throws NodeRefusal for the node's refusal of a subscription, and anything else as it is. */
export function rethrowNodeRefusal(error: unknown): never {
  if (error instanceof UpstreamError && error.answer !== undefined)
    throw new NodeRefusal(jsonOf(error.answer, 'eth_subscribe'), error.message);
  throw error;
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

/**
 * What a client saw is no longer known: the block is neither indexed nor among the reverted ones in memory, or was
 * rewritten.
 */
export function unknownLastSeen(): RequestError {
  return invalidParams(
    'the block of lastSeen is no longer known, or a repair has rewritten it: reload your stored data, then ' +
      'subscribe without lastSeen',
  );
}

/** Throws RequestError `invalid_params` for a member not in `known` and suggests the closest one. */
export function assertKnownMembers(filter: object, known: readonly string[]): void {
  const mistake = unknownMemberText(filter, known);
  if (mistake !== null) throw invalidParams(mistake);
}

/** The filter in the parameters, if any. Throws RequestError `invalid_params` if there are several. */
export function onlyFilter(params: readonly unknown[]): unknown {
  if (params.length > 1) throw invalidParams('a subscription takes one filter object, not several');
  return params[0];
}

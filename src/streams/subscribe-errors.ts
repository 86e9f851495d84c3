/** Errors of subscribe requests. The endpoints map them to their own error codes. */
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

/** The last block that a client saw is neither indexed nor among the reverted blocks in memory. */
export function unknownLastSeen(): RequestError {
  return invalidParams(
    'the block of lastSeen is no longer known: reload your stored data, then subscribe without lastSeen',
  );
}

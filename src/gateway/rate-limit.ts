/** Rate limits that a node reports in words: within a batch providers refuse single calls, and the status is 200. */
import { UpstreamError } from '../lib/errors.ts';
import { saysRateLimit } from '../node/node-errors.ts';
import type { RpcError } from './errors.ts';
import type { Throttle } from './hold-off.ts';
import { classifyRefusal } from './logs/node-range.ts';
import { errorOf, isResult } from './response-tail.ts';

/** What the node would have answered to the call alone: it says no time to wait. */
export const UNTIMED: Throttle = { status: 429, retryAfter: 1 };

/**
 * The error of a call whose rate the node limits; null for any other answer. A refused range of logs is none, whatever
 * its words: it would be refused at any rate. Nor is an error that is no object: it passes through as it is.
 */
export function rateLimitIn(tail: Buffer): RpcError | null {
  const error = isResult(tail) ? null : readableError(tail);
  if (error === null || classifyRefusal({ tail, status: 200 }) !== null) return null;
  return saysRateLimit(new UpstreamError('rpc', error.message, error.code)) ? error : null;
}

function readableError(tail: Buffer): RpcError | null {
  try {
    return errorOf(tail);
  } catch (error) {
    if (error instanceof UpstreamError) return null;
    throw error;
  }
}

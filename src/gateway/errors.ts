/** The gateway's own JSON-RPC errors. The node's errors pass through unchanged. */
import type { UpstreamError } from '../lib/errors.ts';
import { isObject } from '../lib/text.ts';
import type { CallResult, CallStatus, RpcAnswer } from './call.ts';
import { type Throttle, throttleOf } from './hold-off.ts';

export const RpcCode = {
  parse: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  limitExceeded: -32005,
} as const;

export interface RpcError {
  code: number;
  message: string;
  data?: unknown;
}

/** A bug in this program. */
export const INTERNAL_ERROR: RpcError = { code: RpcCode.internal, message: 'internal error' };

/** The error for a method that is not on the key's allow list. */
export function methodNotAllowed(method: string): RpcError {
  const message = `this key may not call ${method.slice(0, 100)}; ask the operator of this server to allow it`;
  return { code: RpcCode.methodNotFound, message };
}

/** Why a caller may make no calls now. */
export interface Refusal {
  message: string;
  /** Seconds. */
  retryAfter: number;
}

/** The error for a refused caller. */
export function limitExceededError({ message, retryAfter }: Refusal): RpcError {
  return { code: RpcCode.limitExceeded, message, data: { retryAfter } };
}

/** The answer to a refused caller's whole request; `toText` writes the error, bytes as Latin-1. */
export function limitExceededAnswer(refusal: Refusal, toText: (error: RpcError) => string): RpcAnswer {
  const { retryAfter } = refusal;
  return { status: 429, body: Buffer.from(toText(limitExceededError(refusal)), 'latin1'), retryAfter };
}

/** The text of an error answer; `id` is the JSON text of the request's id. */
export function errorJson(id: string, error: RpcError): string {
  return `{"jsonrpc":"2.0","id":${id},${errorTailJson(error)}`;
}

/** An error as the result of a call. */
export function errorResult(error: RpcError, status: CallStatus = 200): CallResult {
  return { tail: Buffer.from(errorTailJson(error)), status };
}

/** The result when the node gave no usable answer. The details go only to the operator's log. */
export function failureResult(error: UpstreamError): CallResult {
  const throttle = throttleOf(error);
  if (throttle !== null) return throttledResult(throttle);
  const code = RpcCode.internal;
  switch (error.reason) {
    case 'timeout':
      return errorResult({ code, message: 'upstream timeout' }, 504);
    case 'too-large':
      return errorResult({ code, message: 'response too large' });
    default:
      return errorResult({ code, message: 'upstream unavailable' }, 502);
  }
}

/**
 * The result while the node refuses calls, with its own error if it gave one. `data.upstream` distinguishes it from the
 * limits of the client's key.
 */
export function throttledResult(
  { status, retryAfter }: Throttle,
  ofNode: RpcError | null = null,
): CallResult {
  const { code, message, data } = ofNode ?? THROTTLED[status];
  const more = isObject(data) ? data : {};
  const error = { code, message, data: { ...more, upstream: true, retryAfter } };
  return { ...errorResult(error, status), retryAfter };
}

const THROTTLED: Record<Throttle['status'], RpcError> = {
  429: { code: RpcCode.limitExceeded, message: 'the node limits its calls; retry later' },
  503: { code: RpcCode.internal, message: 'upstream unavailable' },
};

/** This client's other answers fill its memory budget. Unlike an answer that is too large, this one may fit later. */
export const NO_ROOM = limitExceededError({
  message: 'this key has too many bytes of answers in flight; retry later or send smaller requests',
  retryAfter: 1,
});

function errorTailJson(error: RpcError): string {
  return `"error":${JSON.stringify(error)}}`;
}

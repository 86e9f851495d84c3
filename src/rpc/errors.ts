/** JSON-RPC errors that this server makes itself. The node's own errors pass through unchanged. */
import type { UpstreamError } from '../errors.ts';
import type { Answer, CallStatus } from './call.ts';
import type { RpcAnswer } from './sink.ts';

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

/** A defect of this program. */
export const INTERNAL_ERROR: RpcError = { code: RpcCode.internal, message: 'internal error' };

/** Why a caller may not make calls now. */
export interface Refusal {
  message: string;
  /** Seconds. */
  retryAfter: number;
}

/** The error for a caller who may not make calls now. */
export function limitExceededError({ message, retryAfter }: Refusal): RpcError {
  return { code: RpcCode.limitExceeded, message, data: { retryAfter } };
}

/** The answer to the whole request of such a caller; `toText` writes the error, bytes as Latin-1. */
export function limitExceededAnswer(refusal: Refusal, toText: (error: RpcError) => string): RpcAnswer {
  const { retryAfter } = refusal;
  return { status: 429, body: Buffer.from(toText(limitExceededError(refusal)), 'latin1'), retryAfter };
}

/** The text of an error answer; `id` is the JSON text of the request's id. */
export function errorJson(id: string, error: RpcError): string {
  return `{"jsonrpc":"2.0","id":${id},${errorPayloadJson(error)}`;
}

/** The answer to one call that is an error. */
export function errorAnswer(error: RpcError, status: CallStatus = 200): Answer {
  return { payload: Buffer.from(errorPayloadJson(error)), status };
}

/** The answer to a client when the node gave no usable one. The details are only for the operator. */
export function failureAnswer({ reason }: UpstreamError): Answer {
  const code = RpcCode.internal;
  switch (reason) {
    case 'timeout':
      return errorAnswer({ code, message: 'upstream timeout' }, 504);
    case 'too-large':
      return errorAnswer({ code, message: 'response too large' });
    default:
      return errorAnswer({ code, message: 'upstream unavailable' }, 502);
  }
}

/** For a call whose answer finds no room beside the others of its client. Later it may, unlike one that is too large. */
export const NO_ROOM = limitExceededError({
  message: 'too many bytes of answers of this key are under way; ask again, or for fewer at once',
  retryAfter: 1,
});

function errorPayloadJson(error: RpcError): string {
  return `"error":${JSON.stringify(error)}}`;
}

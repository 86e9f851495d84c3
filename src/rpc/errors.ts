/** JSON-RPC errors that this server makes itself. The node's own errors pass through unchanged. */
import type { UpstreamError } from '../errors.ts';
import type { CallStatus } from './call.ts';
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

/** The same as the answer to all of a request; `toText` writes it, bytes as Latin-1. */
export function limitExceededAnswer(refusal: Refusal, toText: (error: RpcError) => string): RpcAnswer {
  const { retryAfter } = refusal;
  return { status: 429, body: Buffer.from(toText(limitExceededError(refusal)), 'latin1'), retryAfter };
}

/** The text of an error answer; `id` is the JSON text of the request's id. */
export function errorJson(id: string, error: RpcError): string {
  return `{"jsonrpc":"2.0","id":${id},${errorPayloadJson(error)}`;
}

/** The payload of an error answer, as text. */
export function errorPayloadJson(error: RpcError): string {
  return `"error":${JSON.stringify(error)}}`;
}

/** The answer to a client when the node gave no usable one. The details are only for the operator. */
export function failureAnswer({ reason }: UpstreamError): { payload: Buffer; status: CallStatus } {
  switch (reason) {
    case 'timeout':
      return { payload: internal('upstream timeout'), status: 504 };
    case 'too-large':
      return { payload: internal('response too large'), status: 200 };
    default:
      return { payload: internal('upstream unavailable'), status: 502 };
  }
}

function internal(message: string): Buffer {
  return Buffer.from(errorPayloadJson({ code: RpcCode.internal, message }));
}

/** Answers to clients as plain data: no socket is touched here. */
import type { RateLimitStatus, Refused } from '../access/limiter.ts';
import { RequestError } from '../errors.ts';

export interface Answer {
  status: keyof typeof STATUS_LINES;
  /** Further header lines, each preceded by CRLF. */
  headers: string;
  /** Null for the statuses that have no body. */
  body: string | Buffer | null;
  /** The client must revalidate it, may keep it for good, or must not store it. */
  cache: 'revalidate' | 'immutable' | 'no-store';
  /**
   * Close the connection after it: what the client still sends is ignored. Only for answers shorter than the request:
   * nothing limits how much of them is buffered for a client that does not read (see reply.ts).
   */
  close?: boolean;
  /** For HEAD: length of the body that GET would have. The connection closes after the answer. */
  contentLength?: number;
}

export const STATUS_LINES = {
  200: '200 OK',
  204: '204 No Content',
  304: '304 Not Modified',
  308: '308 Permanent Redirect',
  400: '400 Bad Request',
  401: '401 Unauthorized',
  403: '403 Forbidden',
  404: '404 Not Found',
  405: '405 Method Not Allowed',
  409: '409 Conflict',
  411: '411 Length Required',
  413: '413 Content Too Large',
  415: '415 Unsupported Media Type',
  426: '426 Upgrade Required',
  429: '429 Too Many Requests',
  500: '500 Internal Server Error',
  502: '502 Bad Gateway',
  503: '503 Service Unavailable',
  504: '504 Gateway Timeout',
} as const;

const JSON_HEADER = '\r\nContent-Type: application/json';

/** The body of every refusal of a key, word for word as the specification has it. */
const UNAUTHORIZED_BODY =
  '{"jsonrpc":"2.0","error":{"code":-32600,"message":"Missing or invalid X-API-Key header"}}';

/** The answer to HEAD: what GET gives, without the body. */
export function withoutBody(answer: Answer): Answer;
export function withoutBody(answer: Answer | Promise<Answer>): Answer | Promise<Answer>;
export function withoutBody(answer: Answer | Promise<Answer>): Answer | Promise<Answer> {
  if (answer instanceof Promise) return answer.then(withoutBody);
  const { body } = answer;
  if (body === null) return answer;
  return { ...answer, body: null, contentLength: Buffer.byteLength(body) };
}

/** A JSON answer. `body` is JSON text. */
export function jsonAnswer(status: Answer['status'], body: string | Buffer, headers = ''): Answer {
  return { status, headers: JSON_HEADER + headers, body, cache: 'no-store' };
}

/** The answer to a missing or invalid key. */
export function unauthorized(cors: string): Answer {
  return jsonAnswer(401, UNAUTHORIZED_BODY, cors);
}

/** An error in the form of the REST API. */
export function errorAnswer(error: RequestError, headers: string): Answer {
  const { code, message, param } = error;
  const status = isStatus(error.status) ? error.status : 500;
  return jsonAnswer(status, JSON.stringify({ error: { code, message, param } }), headers);
}

/** The answer where there is nothing. */
export function notFound(headers: string): Answer {
  return errorAnswer(new RequestError(404, 'not_found', 'there is nothing at this path'), headers);
}

/** The answer to a body that is longer than `maxBytes`, of which the rest is not read. */
export function contentTooLarge(maxBytes: number, headers: string): Answer {
  const error = new RequestError(413, 'body_too_large', `the body is longer than ${maxBytes} bytes`);
  return { ...errorAnswer(error, headers), close: true };
}

/** A request over the key's limits, in the form of the REST API. `cors` are header lines. */
export function tooManyRequests(refused: Refused, cors: string): Answer {
  const { code, message, retryAfter } = refused;
  const headers = cors + rateLimitHeaders(refused) + retryAfterHeader(retryAfter);
  return jsonAnswer(429, JSON.stringify({ error: { code, message }, retryAfter }), headers);
}

/** The error for a defect. Its details go to the log and not to the client. */
export function internalError(): RequestError {
  return new RequestError(500, 'internal', 'internal error');
}

/** The rate limit headers that every answer to a valid key carries. */
export function rateLimitHeaders({ limit, remaining, reset }: RateLimitStatus): string {
  return `\r\nRateLimit-Limit: ${limit}\r\nRateLimit-Remaining: ${remaining}\r\nRateLimit-Reset: ${reset}`;
}

export function retryAfterHeader(seconds: number): string {
  return `\r\nRetry-After: ${seconds}`;
}

function isStatus(status: number): status is Answer['status'] {
  return Object.hasOwn(STATUS_LINES, status);
}

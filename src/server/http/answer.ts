/** HTTP answers as plain data, with the CORS headers of answers and preflights. */
import type { RateLimitStatus, Refused } from '../../access/limiter.ts';
import { errorJson, RpcCode } from '../../gateway/errors.ts';
import { BusyError, ReorgedError, RequestError } from '../../lib/errors.ts';
import type { HttpRequest } from '../uws.ts';

export const RPC_PATH = '/rpc';

export interface Answer {
  status: keyof typeof STATUS_LINES;
  /** Further header lines, each preceded by CRLF. */
  headers: string;
  /** Null for a status without a body. */
  body: string | Buffer | null;
  /** Cache policy: revalidate each time, cache for good, or do not store. */
  cache: 'revalidate' | 'immutable' | 'no-store';
  /**
   * Close the connection after the answer and ignore whatever the client still sends. Only for answers shorter than
   * their request: the buffering for a client that does not read is unbounded (write-answer.ts).
   */
  close?: boolean;
  /** For HEAD: the body length of the GET. The connection closes after the answer. */
  contentLength?: number;
  /** A 5xx status that is an ordinary answer, such as `not_ready`: it does not count as a server error. */
  isExpected?: boolean;
}

/** What the meter of a route needs to know about an answer. */
export type AnswerOutcome = Pick<Answer, 'isExpected'> & { status: number };

export const STATUS_LINES = {
  200: '200 OK',
  202: '202 Accepted',
  204: '204 No Content',
  304: '304 Not Modified',
  308: '308 Permanent Redirect',
  400: '400 Bad Request',
  401: '401 Unauthorized',
  403: '403 Forbidden',
  404: '404 Not Found',
  405: '405 Method Not Allowed',
  406: '406 Not Acceptable',
  408: '408 Request Timeout',
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

/** The body of every 401, verbatim from the specification. */
const UNAUTHORIZED_BODY =
  '{"jsonrpc":"2.0","error":{"code":-32600,"message":"Missing or invalid X-API-Key header"}}';

/** The answer to HEAD: the GET answer without its body. */
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

/** A page of a list as CSV. */
export function csvAnswer(body: string, headers: string, nextCursor: string | null): Answer {
  const cursor = nextCursor === null ? '' : `\r\nX-Next-Cursor: ${nextCursor}`;
  return {
    status: 200,
    headers: `\r\nContent-Type: text/csv; charset=utf-8${cursor}${headers}`,
    body,
    cache: 'no-store',
  };
}

/** The answer to a missing or invalid key. */
export function unauthorized(cors: string): Answer {
  return jsonAnswer(401, UNAUTHORIZED_BODY, cors);
}

/** A REST error. Clients may retry every 503 after a second. */
export function errorAnswer(error: RequestError, headers: string): Answer {
  const { code, message, param } = error;
  const from = error instanceof ReorgedError ? error.from : undefined;
  const status = isStatus(error.status) ? error.status : 500;
  const retryAfter = error instanceof BusyError ? error.retryAfter : undefined;
  const retry = status === 503 || retryAfter !== undefined ? retryAfterHeader(retryAfter ?? 1) : '';
  const answer = jsonAnswer(
    status,
    JSON.stringify({ error: { code, message, param, from }, from, retryAfter }),
    headers + retry,
  );
  return code === 'not_ready' ? { ...answer, isExpected: true } : answer;
}

/** A request that cannot be read, in the form of the errors of its path. */
export function unreadable(path: string, message: string): Answer {
  if (path !== RPC_PATH) return errorAnswer(new RequestError(400, 'invalid_body', message), '');
  return jsonAnswer(400, errorJson('null', { code: RpcCode.invalidRequest, message }));
}

/** The answer to an unknown path. */
export function notFound(headers: string): Answer {
  return errorAnswer(new RequestError(404, 'not_found', 'there is nothing at this path'), headers);
}

/** The answer to a body that cannot be read to its end. What the client still sends is not read. */
export function unreadBody(error: RequestError, headers: string): Answer {
  return { ...errorAnswer(error, headers), close: true };
}

/** The answer to a body over `maxBytes`. The rest of the body is not read. */
export function contentTooLarge(maxBytes: number, headers: string): Answer {
  return unreadBody(bodyTooLarge(maxBytes), headers);
}

export function bodyTooLarge(maxBytes: number): RequestError {
  return new RequestError(413, 'body_too_large', `the body is longer than ${maxBytes} bytes`);
}

/** The REST answer to a request over the key's limits. `cors` are header lines. */
export function tooManyRequests(refused: Refused, cors: string): Answer {
  const { code, message, retryAfter } = refused;
  const headers = cors + rateLimitHeaders(refused) + retryAfterHeader(retryAfter);
  return jsonAnswer(429, JSON.stringify({ error: { code, message }, retryAfter }), headers);
}

/** The error for a bug. Its details go to the log, not to the client. */
export function internalError(): RequestError {
  return new RequestError(500, 'internal', 'internal error');
}

/** The rate-limit headers of every answer to a valid key. */
export function rateLimitHeaders({ limit, remaining, reset }: RateLimitStatus): string {
  return `\r\nRateLimit-Limit: ${limit}\r\nRateLimit-Remaining: ${remaining}\r\nRateLimit-Reset: ${reset}`;
}

export function retryAfterHeader(seconds: number): string {
  return `\r\nRetry-After: ${seconds}`;
}

/**
 * Retry-After with a leading zero, which HTTP allows. ethers reads `1` as one millisecond and gives up after twelve
 * attempts in as many milliseconds; it ignores a value that starts with 0 and backs off exponentially. Other clients
 * read seconds.
 */
export function paddedRetryAfterHeader(seconds: number): string {
  return `\r\nRetry-After: 0${seconds}`;
}

export function isStatus(status: number): status is Answer['status'] {
  return Object.hasOwn(STATUS_LINES, status);
}

const EXPOSED =
  'X-Indexed-Block, X-Indexed-Hash, X-Indexed-Rewrites, X-Next-Cursor, X-Cut, ETag, RateLimit-Limit, ' +
  'RateLimit-Remaining, RateLimit-Reset, Retry-After';

/** Names of headers as a preflight lists them: tokens (RFC 9110), separated by commas. */
const HEADER_NAMES = /^[\w!#$%&'*+.^`|~-]+( *, *[\w!#$%&'*+.^`|~-]+)*$/;
/** Longest list of names that is allowed as it is, characters. */
const MAX_HEADER_NAMES = 1_024;
const DEFAULT_HEADER_NAMES = 'X-API-Key, Content-Type, If-None-Match, Authorization';

/**
 * Additional headers of a preflight, with the headers that it names: tracing adds headers of its own to each request of
 * a page. Any header may pass, because keys travel in headers that pages set themselves; there are no cookies.
 */
export function preflightHeaders(req: HttpRequest): string {
  const names = req.getHeader('access-control-request-headers');
  const allowed = names.length <= MAX_HEADER_NAMES && HEADER_NAMES.test(names) ? names : DEFAULT_HEADER_NAMES;
  return (
    '\r\nAccess-Control-Allow-Methods: GET, POST, OPTIONS' +
    `\r\nAccess-Control-Allow-Headers: ${allowed}` +
    '\r\nAccess-Control-Max-Age: 86400' +
    '\r\nVary: Access-Control-Request-Headers'
  );
}

/** Returns a function that returns a request's CORS headers, each preceded by CRLF. `origins` as configured. */
export function corsPolicy(origins: readonly string[]): (req: HttpRequest) => string {
  if (origins.includes('*')) {
    const headers = allow('*');
    return () => headers;
  }
  const allowed = new Map(origins.map((origin) => [origin, `\r\nVary: Origin${allow(origin)}`]));
  return (req) => allowed.get(req.getHeader('origin')) ?? '\r\nVary: Origin';
}

function allow(origin: string): string {
  return `\r\nAccess-Control-Allow-Origin: ${origin}\r\nAccess-Control-Expose-Headers: ${EXPOSED}`;
}

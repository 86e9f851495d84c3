/** Request errors, and their messages for the visitor. */

/** An unsuccessful answer, or none at all (status 0). */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  /** Seconds; 0 if the server gave none. */
  readonly retryAfter: number;

  constructor(facts: { status: number; code: string; message: string; retryAfter?: number }) {
    super(facts.message);
    this.status = facts.status;
    this.code = facts.code;
    this.retryAfter = facts.retryAfter ?? 0;
  }
}

const CODES: Readonly<Record<number, string>> = {
  401: 'unauthorized',
  404: 'not_found',
  429: 'rate_limited',
  500: 'internal',
  502: 'upstream',
  503: 'not_ready',
  504: 'upstream',
};

/** The error in an answer's body, in one of three forms: REST, JSON-RPC, or a proxy's own. */
export function apiErrorOf(status: number, body: unknown): ApiError {
  const error = field(body, 'error');
  const code = field(error, 'code');
  const message = field(error, 'message');
  const wait = field(body, 'retryAfter') ?? field(field(error, 'data'), 'retryAfter');
  const retryAfter = typeof wait === 'number' ? wait : 0;
  // JSON-RPC has one code for an exceeded rate and an exceeded quota. A rate recovers within a second.
  const byStatus = status === 429 && retryAfter > 1 ? 'quota_exceeded' : (CODES[status] ?? 'failed');
  const fromProxy = error === undefined && status >= 502;
  return new ApiError({
    status,
    code: typeof code === 'string' ? code : fromProxy ? 'unreachable' : byStatus,
    message: typeof message === 'string' ? message : `HTTP ${status}`,
    retryAfter,
  });
}

/** Writes a fault of the page itself to the console. An ApiError is only shown. */
export function logFault(error: unknown): void {
  if (!(error instanceof ApiError)) console.error(error);
}

/** What happened and what the visitor can do. */
export function errorText(error: unknown): string {
  if (!(error instanceof ApiError)) return 'Something in this page failed. Reloading it may help.';
  switch (error.code) {
    case 'unreachable':
      return 'The server cannot be reached.';
    case 'internal':
      return 'The server had an internal error. Its log has the details.';
    case 'unauthorized':
      return 'This key is invalid or has been revoked.';
    case 'rate_limited':
      return `This key is over its rate limit. Try again in ${error.retryAfter} s.`;
    case 'quota_exceeded':
      return (
        'The monthly quota of this key is used up. The quota resets in ' +
        `${Math.ceil(error.retryAfter / 86_400)} days.`
      );
    case 'tier_limit':
      return `The tier of this key does not allow this: ${error.message}.`;
    case 'not_allowed':
      return 'The operator has not permitted this for the key.';
    case 'not_ready':
      return 'This is not indexed yet. The view retries by itself.';
    case 'not_found':
      return `The server does not have this: ${error.message}.`;
    case 'busy':
    case 'timeout':
      return 'The server is too busy to answer this at present.';
    case 'storage':
      return 'The server cannot read its index at present.';
    case 'node_unavailable':
    case 'upstream':
      return 'The node behind this server did not answer.';
    default:
      return `The server refused the request: ${error.message}.`;
  }
}

function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}

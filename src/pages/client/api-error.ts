/** What went wrong with a request, and what to tell the visitor. */

/** An answer that is no success, or none at all (status 0). */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  /** Seconds; 0 when the server named none. */
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

/** The error in an answer's body. Three forms occur: REST, JSON-RPC, and whatever a proxy in front says. */
export function apiErrorOf(status: number, body: unknown): ApiError {
  const error = field(body, 'error');
  const code = field(error, 'code');
  const message = field(error, 'message');
  const wait = field(body, 'retryAfter') ?? field(field(error, 'data'), 'retryAfter');
  const retryAfter = typeof wait === 'number' ? wait : 0;
  // JSON-RPC has one code for a used-up rate and a used-up quota; a rate is whole again within a second.
  const byStatus = status === 429 && retryAfter > 1 ? 'quota_exceeded' : (CODES[status] ?? 'failed');
  const fromProxy = error === undefined && status >= 502;
  return new ApiError({
    status,
    code: typeof code === 'string' ? code : fromProxy ? 'unreachable' : byStatus,
    message: typeof message === 'string' ? message : `HTTP ${status}`,
    retryAfter,
  });
}

/** What happened and what can be done, in words for the visitor. */
export function errorText(error: unknown): string {
  if (!(error instanceof ApiError)) return 'Something in this page failed. Reloading it may help.';
  switch (error.code) {
    case 'unreachable':
      return 'The server cannot be reached.';
    case 'internal':
      return 'The server met an error of its own. Its log says more.';
    case 'unauthorized':
      return 'This key is invalid or has been revoked.';
    case 'rate_limited':
      return `This key is over its rate limit. Try again in ${error.retryAfter} s.`;
    case 'quota_exceeded':
      return `The requests of this key for this month are used up. The quota resets in ${Math.ceil(error.retryAfter / 86_400)} days.`;
    case 'tier_limit':
      return `The tier of this key does not allow this: ${error.message}.`;
    case 'not_allowed':
      return 'The operator has not allowed this for this key.';
    case 'not_ready':
      return 'This is not indexed yet. The view retries by itself.';
    case 'not_found':
      return 'The server does not have this.';
    case 'upstream':
      return 'The node behind this server did not answer.';
    default:
      return `The server refused the request: ${error.message}.`;
  }
}

function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}

/** What went wrong in asking the server, and what to say of it. */

/**
 * An answer that is no success, or none at all (status 0).
 */
export class ApiError extends Error {
  /**
   * @param {{ status: number, code: string, message: string, retryAfter?: number }} facts
   */
  constructor({ status, code, message, retryAfter = 0 }) {
    super(message);
    this.status = status;
    this.code = code;
    this.retryAfter = retryAfter;
  }
}

/**
 * The problem that an answer's body tells of. Three forms occur: REST, JSON-RPC, and whatever a proxy in front says.
 * @param {number} status
 * @param {unknown} body
 * @returns {ApiError}
 */
export function apiErrorOf(status, body) {
  const error = field(body, 'error');
  const code = field(error, 'code');
  const message = field(error, 'message');
  const ofProxy = error === undefined && status >= 502;
  const wait = field(body, 'retryAfter') ?? field(field(error, 'data'), 'retryAfter');
  const retryAfter = typeof wait === 'number' ? wait : 0;
  return new ApiError({
    status,
    code: typeof code === 'string' ? code : ofProxy ? 'unreachable' : codeOfStatus(status, retryAfter),
    message: typeof message === 'string' ? message : `HTTP ${status}`,
    retryAfter,
  });
}

/**
 * What to tell whoever looks at the page.
 * @param {unknown} error
 * @returns {string}
 */
export function errorMessage(error) {
  if (!(error instanceof ApiError)) return 'Something in this page failed. Reloading it may help.';
  switch (error.code) {
    case 'unreachable':
      return 'The server cannot be reached.';
    case 'internal':
      return 'The server met an error of its own. Its log says more.';
    default:
      return `${error.message.charAt(0).toUpperCase()}${error.message.slice(1)}.`;
  }
}

/**
 * JSON-RPC has one code for a used up rate and a used up quota; the rate is whole again within a second.
 * @param {number} status
 * @param {number} retryAfter
 */
function codeOfStatus(status, retryAfter) {
  if (status === 429 && retryAfter > 1) return 'quota_exceeded';
  return (
    {
      401: 'unauthorized',
      404: 'not_found',
      429: 'rate_limited',
      500: 'internal',
      502: 'upstream',
      503: 'not_ready',
      504: 'upstream',
    }[status] ?? 'failed'
  );
}

/**
 * @param {unknown} value
 * @param {string} name
 * @returns {unknown}
 */
function field(value, name) {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}

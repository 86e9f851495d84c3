/** What went wrong, in words. */

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
  return new ApiError({
    status,
    code: typeof code === 'string' ? code : ofProxy ? 'unreachable' : codeOfStatus(status),
    message: typeof message === 'string' ? message : `HTTP ${status}`,
    retryAfter: typeof wait === 'number' ? wait : 0,
  });
}

/**
 * What to tell the visitor: what happened and what can be done.
 * @param {unknown} error
 * @returns {string}
 */
export function errorMessage(error) {
  if (!(error instanceof ApiError)) return 'Something in this page failed. Reloading it may help.';
  switch (error.code) {
    case 'unreachable':
      return 'The server cannot be reached.';
    case 'unauthorized':
      return 'This key is not valid, or not any more.';
    case 'rate_limited':
      return `This key may not send more requests at the moment. It may again in ${error.retryAfter} s.`;
    case 'quota_exceeded':
      return `The requests of this key for this month are used up. ${resetText(error.retryAfter)}`;
    case 'tier_limit':
      return `The tier of this key does not allow this: ${error.message}.`;
    case 'not_ready':
      return 'The index holds no block yet: the server has only just begun. This view asks again by itself.';
    case 'not_found':
      return 'This server does not offer this view.';
    case 'upstream':
      return 'The node behind this server did not answer.';
    case 'internal':
      return 'The server met an error of its own. Its log says more.';
    default:
      return error.status >= 500
        ? `The server could not answer: ${error.message}.`
        : `The server refused the request: ${error.message}.`;
  }
}

/** @param {number} seconds */
function resetText(seconds) {
  const days = Math.ceil(seconds / 86_400);
  return days > 1 ? `There will be new ones in ${days} days.` : 'There will be new ones within a day.';
}

/** @param {number} status */
function codeOfStatus(status) {
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

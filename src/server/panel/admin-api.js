/** Asking the panel's API. The session is a cookie that no script sees; the header proves that this page asks. */
import { urlOf } from '../ui/base-url.js';

/** An answer that is no success, or none at all (status 0). */
export class ApiError extends Error {
  /**
   * @param {number} status
   * @param {string} message
   * @param {string | undefined} param the field the message is about
   */
  constructor(status, message, param) {
    super(message);
    this.status = status;
    this.param = param;
  }
}

/**
 * Rejects with an ApiError whose message can be shown.
 * @template T
 * @param {'GET' | 'POST' | 'DELETE'} method
 * @param {string} path below `admin/api/`
 * @param {object} [body]
 * @returns {Promise<T>}
 */
export async function callAdminApi(method, path, body) {
  const response = await fetch(urlOf(`admin/api/${path}`), {
    method,
    headers: { 'X-Atlas-Panel': '1', ...(body === undefined ? {} : { 'Content-Type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  }).catch(() => {
    throw new ApiError(0, 'The server cannot be reached.', undefined);
  });
  const answer = await response.json().catch(() => null);
  if (response.ok && answer !== null) return answer;
  throw new ApiError(
    response.status,
    errorMessage(response.status, answer?.error?.message),
    answer?.error?.param,
  );
}

/**
 * @param {number} status
 * @param {unknown} message
 */
function errorMessage(status, message) {
  if (status === 500) return 'The server met an error of its own. Its log says more.';
  return typeof message === 'string'
    ? `${message.charAt(0).toUpperCase()}${message.slice(1)}.`
    : `HTTP ${status}`;
}

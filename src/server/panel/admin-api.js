/** Asking the panel's API. The session is a cookie that no script sees; the header proves that this page asks. */
import { ApiError, apiErrorOf } from '../ui/api-error.js';
import { urlOf } from '../ui/base-url.js';

/**
 * Rejects with an ApiError.
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
  }).catch((error) => {
    throw new ApiError({ status: 0, code: 'unreachable', message: String(error) });
  });
  const answer = await response.json().catch(() => null);
  if (!response.ok || answer === null) throw apiErrorOf(response.status, answer);
  return answer;
}

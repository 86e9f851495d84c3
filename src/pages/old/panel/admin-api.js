/** Asking the panel's API. The session is a cookie that no script sees; the header proves that this page asks. */
import { apiErrorOf } from '../ui/api-error.js';
import { request } from '../ui/request.js';

/** The panel's answers are quick: who waits longer waits for a server that stands still. */
const TIMEOUT_MS = 10_000;

/**
 * Rejects with an ApiError.
 * @template T
 * @param {'GET' | 'POST' | 'DELETE'} method
 * @param {string} path below `admin/api/`
 * @param {object} [body]
 * @returns {Promise<T>}
 */
export async function callAdminApi(method, path, body) {
  const { response, answer } = await request(`admin/api/${path}`, {
    method,
    headers: { 'X-Atlas-Panel': '1', ...(body === undefined ? {} : { 'Content-Type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    timeoutMs: TIMEOUT_MS,
  });
  if (!response.ok) throw apiErrorOf(response.status, answer);
  return answer;
}

/** A request to the server, with what the network may do to it. */
import { ApiError } from './api-error.js';
import { urlOf } from './base-url.js';

/** Longer than the server waits for its node by default. */
const TIMEOUT_MS = 60_000;

/**
 * The answer and its JSON, null where an error came without. Rejects with the signal's reason, or with an ApiError when no
 * answer came, not in time or not as a whole.
 * @param {string} path without the leading slash
 * @param {RequestInit & { timeoutMs?: number }} [init]
 */
export async function request(path, { signal, timeoutMs = TIMEOUT_MS, ...init } = {}) {
  const timeout = AbortSignal.timeout(timeoutMs);
  /** @param {unknown} error */
  const fail = (error) => {
    signal?.throwIfAborted();
    throw new ApiError({ status: 0, code: 'unreachable', message: String(error) });
  };
  const bounded = signal ? AbortSignal.any([signal, timeout]) : timeout;
  const response = await fetch(urlOf(path), { ...init, signal: bounded }).catch(fail);
  const answer = await response.json().catch((error) => (response.ok ? fail(error) : null));
  return { response, answer };
}

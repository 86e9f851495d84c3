/** Asking the public API with the visitor's key. */

import { ApiError, apiErrorOf } from '../ui/api-error.js';
import { request } from '../ui/request.js';

/** How often a request that came too soon is sent again. */
const MAX_RETRIES = 5;

/**
 * What was asked and how it was answered: each view shows it.
 * @typedef {object} Exchange
 * @property {'GET' | 'POST'} method
 * @property {string} path with its query
 * @property {string | null} body
 * @property {number} status
 * @property {number} ms
 * @property {string | null} block the X-Indexed-Block header
 * @property {unknown} answer
 */

/**
 * @template T
 * @typedef {{ data: T, exchange: Exchange }} Answered
 */

export class Api {
  #key;
  #throttle;

  /**
   * @param {string} key
   * @param {import('./request-throttle.js').RequestThrottle} throttle
   */
  constructor(key, throttle) {
    this.#key = key;
    this.#throttle = throttle;
  }

  /**
   * A GET of the REST API. Rejects with an ApiError, or with the signal's reason.
   * @template T
   * @param {string} endpoint such as `wallet_summary`
   * @param {Record<string, string | number | null>} params those that are null are left out
   * @param {AbortSignal} signal
   * @returns {Promise<Answered<T>>}
   */
  get(endpoint, params, signal) {
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(params)) if (value !== null) query.set(name, String(value));
    return this.#sendWithRetry('GET', `api/${endpoint}?${query}`, null, signal);
  }

  /**
   * A JSON-RPC call; the result is `data`.
   * @template T
   * @param {string} method
   * @param {unknown[]} params
   * @param {AbortSignal} signal
   * @returns {Promise<Answered<T>>}
   */
  async rpc(method, params, signal) {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
    /** @type {Answered<{ result?: T }>} */
    const { data, exchange } = await this.#sendWithRetry('POST', 'rpc', body, signal);
    if (data.result === undefined) throw apiErrorOf(exchange.status, data);
    return { data: data.result, exchange };
  }

  /**
   * Sends again what came too soon for the key's rate.
   * @template T
   * @param {'GET' | 'POST'} method
   * @param {string} path
   * @param {string | null} body
   * @param {AbortSignal} signal
   * @returns {Promise<Answered<T>>}
   */
  async #sendWithRetry(method, path, body, signal) {
    for (let retries = 0; ; retries++) {
      try {
        return await this.#throttle.run(() => this.#send(method, path, body, signal));
      } catch (error) {
        const tooSoon = error instanceof ApiError && error.code === 'rate_limited';
        if (!tooSoon || retries === MAX_RETRIES) throw error;
        this.#throttle.pause(Math.max(1, error.retryAfter));
      }
    }
  }

  /**
   * @template T
   * @param {'GET' | 'POST'} method
   * @param {string} path
   * @param {string | null} body
   * @param {AbortSignal} signal
   * @returns {Promise<Answered<T>>}
   */
  async #send(method, path, body, signal) {
    signal.throwIfAborted();
    const startedAt = performance.now();
    const headers = {
      'X-API-Key': this.#key,
      ...(body === null ? {} : { 'Content-Type': 'application/json' }),
    };
    const { response, answer } = await request(path, { method, headers, body, signal });
    const rateLimit = rateLimitOf(response.headers);
    if (rateLimit !== null) this.#throttle.updateLimits(rateLimit.rate, rateLimit.remaining);
    if (!response.ok) throw apiErrorOf(response.status, answer);
    return {
      data: answer,
      exchange: {
        method,
        path: `/${path}`,
        body,
        status: response.status,
        ms: performance.now() - startedAt,
        block: response.headers.get('X-Indexed-Block'),
        answer,
      },
    };
  }
}

/**
 * What a key may still send. Null where the headers are missing, or tell of the monthly quota because that leaves less:
 * it begins anew with the month, while a rate is whole again within a second.
 * @param {Headers} headers
 * @returns {{ rate: number, remaining: number } | null} requests a second, and those left of them
 */
export function rateLimitOf(headers) {
  const rate = Number(headers.get('RateLimit-Limit'));
  if (rate === 0 || Number(headers.get('RateLimit-Reset')) > 1) return null;
  return { rate, remaining: Number(headers.get('RateLimit-Remaining')) };
}

/** Requests to the public API with the visitor's key. */
import type { Answers, EndpointName, Query } from './answers.ts';
import { ApiError, apiErrorOf } from './api-error.ts';
import { request } from './request.ts';
import type { Throttle } from './throttle.ts';

/** How often a rate-limited request is resent. */
const MAX_RETRIES = 5;

/** A request and its answer, for each section's list of requests. */
export interface ApiExchange {
  method: 'GET' | 'POST';
  /** Includes the query. */
  path: string;
  body: string | null;
  status: number;
  ms: number;
  /** The `X-Indexed-Block` header. */
  block: string | null;
  /** The `X-Next-Cursor` header of a list as CSV; null at its end. */
  nextCursor: string | null;
  answer: unknown;
}

export interface Answered<T> {
  data: T;
  exchange: ApiExchange;
}

export class Api {
  readonly key: string;
  private readonly throttle: Throttle;

  constructor(key: string, throttle: Throttle) {
    this.key = key;
    this.throttle = throttle;
  }

  /** A GET of the REST API. Rejects with an ApiError, or with the signal's reason. */
  get<N extends EndpointName>(name: N, params: Query<N>, signal: AbortSignal): Promise<Answered<Answers[N]>> {
    const query = new URLSearchParams();
    for (const [key, value] of Object.entries(params)) {
      if (value !== null && value !== undefined) query.set(key, String(value));
    }
    return this.send<Answers[N]>('GET', `/api/${name}?${query}`, null, signal);
  }

  /** A JSON-RPC call; the result is `data`. */
  async rpc<T>(method: string, params: readonly unknown[], signal: AbortSignal): Promise<Answered<T>> {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
    const { data, exchange } = await this.send<{ result?: T }>('POST', '/rpc', body, signal);
    if (data.result === undefined) throw apiErrorOf(exchange.status, data);
    return { data: data.result, exchange };
  }

  /** Any request; `body` is JSON text. Rejects like `get`. */
  async send<T>(
    method: ApiExchange['method'],
    path: string,
    body: string | null,
    signal: AbortSignal,
  ): Promise<Answered<T>> {
    for (let retries = 0; ; retries++) {
      try {
        return await this.throttle.run(() => this.sendOnce<T>(method, path, body, signal));
      } catch (error) {
        const tooSoon = error instanceof ApiError && error.code === 'rate_limited';
        if (!tooSoon || retries === MAX_RETRIES) throw error;
        this.throttle.pause(Math.max(1, error.retryAfter));
      }
    }
  }

  /** Answer types come from the server's schemas; the server's tests check answers against them. */
  private async sendOnce<T>(
    method: ApiExchange['method'],
    path: string,
    body: string | null,
    signal: AbortSignal,
  ): Promise<Answered<T>> {
    signal.throwIfAborted();
    const startedAt = performance.now();
    const headers = {
      'X-API-Key': this.key,
      ...(body === null ? {} : { 'Content-Type': 'application/json' }),
    };
    const { response, answer } = await request(path, { method, headers, body, signal });
    this.throttle.update(response.headers);
    if (!response.ok) throw apiErrorOf(response.status, answer);
    const ms = performance.now() - startedAt;
    const block = response.headers.get('X-Indexed-Block');
    const nextCursor = response.headers.get('X-Next-Cursor');
    return {
      data: answer as T,
      exchange: { method, path, body, status: response.status, ms, block, nextCursor, answer },
    };
  }
}

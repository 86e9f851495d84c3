/** HTTP to the node: a pool of keep-alive sockets that posts bodies and gathers answers, bounded on every side. */
import { type Dispatcher, errors, Pool } from 'undici';
import { UpstreamError } from '../errors.ts';
import { parseEndpoint } from './endpoint.ts';

export interface HttpOptions {
  url: string;
  /** Milliseconds from `post` to the last byte of the answer, waiting for a free socket included. */
  timeoutMs: number;
  /** Sockets at most, and so requests in flight. */
  maxSockets: number;
  /** Requests that may wait for a free socket; the next one fails at once. */
  maxWaiting: number;
  /** Bytes of one answer; a longer one is cut off and fails as `too-large`. */
  maxResponseBytes: number;
}

export interface HttpAnswer {
  status: number;
  body: Buffer;
}

export class HttpTransport {
  /** Where it posts to, without secrets: for messages. */
  readonly origin: string;
  readonly #options: HttpOptions;
  readonly #path: string;
  readonly #headers: Record<string, string>;
  readonly #pool: Pool;
  readonly #running = new Set<Exchange>();
  /** In order of arrival. */
  readonly #waiting = new Set<Exchange>();
  #closed = false;

  constructor(options: HttpOptions) {
    const { origin, path, authorization } = parseEndpoint(options.url);
    this.origin = origin;
    this.#options = options;
    this.#path = path;
    this.#headers = { 'content-type': 'application/json', ...(authorization && { authorization }) };
    this.#pool = new Pool(origin, {
      connections: options.maxSockets,
      connectTimeout: options.timeoutMs,
      // One deadline covers the whole exchange; these would only add timers to the hot path.
      headersTimeout: 0,
      bodyTimeout: 0,
      allowH2: false,
    });
  }

  /**
   * Posts a JSON body and resolves with whatever the node answers, any status.
   * Rejects with an UpstreamError (`timeout`, `connection`, `malformed`, `too-large`; `what` names the request
   * in its message), or with the signal's reason.
   */
  post(body: string, what: string, signal?: AbortSignal): Promise<HttpAnswer> {
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      if (this.#closed)
        throw new UpstreamError('connection', `${what}: the connection to the node is closed`);
      const exchange = new Exchange(body, what, this.origin, this.#options, signal, (outcome) => {
        this.#leave(exchange);
        if ('answer' in outcome) resolve(outcome.answer);
        else reject(outcome.error);
      });
      this.#enter(exchange);
    });
  }

  /** Fails what waits or is in flight and closes the sockets. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const exchange of [...this.#waiting, ...this.#running]) {
      exchange.fail(
        new UpstreamError('connection', `${exchange.what}: the connection to the node is closed`),
      );
    }
    await this.#pool.destroy();
  }

  #enter(exchange: Exchange): void {
    if (this.#running.size < this.#options.maxSockets) this.#run(exchange);
    else if (this.#waiting.size < this.#options.maxWaiting) this.#waiting.add(exchange);
    else {
      const message = `${exchange.what}: ${this.#waiting.size} requests already wait for ${this.origin}`;
      exchange.fail(new UpstreamError('connection', message));
    }
  }

  #run(exchange: Exchange): void {
    this.#running.add(exchange);
    const request = {
      path: this.#path,
      method: 'POST',
      headers: this.#headers,
      body: exchange.body,
    } as const;
    this.#pool.dispatch(request, exchange);
  }

  #leave(exchange: Exchange): void {
    if (this.#waiting.delete(exchange) || !this.#running.delete(exchange) || this.#closed) return;
    const [next] = this.#waiting;
    if (next === undefined) return;
    this.#waiting.delete(next);
    this.#run(next);
  }
}

type Outcome = { answer: HttpAnswer } | { error: unknown };

/** One request and its answer; settles exactly once. */
class Exchange implements Dispatcher.DispatchHandler {
  readonly body: string;
  readonly what: string;
  readonly #origin: string;
  readonly #maxBytes: number;
  readonly #settle: (outcome: Outcome) => void;
  readonly #signal: AbortSignal | undefined;
  readonly #deadline: NodeJS.Timeout;
  #controller: Dispatcher.DispatchController | undefined;
  #status = 0;
  #chunks: Buffer[] = [];
  #bytes = 0;
  #settled = false;

  constructor(
    body: string,
    what: string,
    origin: string,
    limits: Pick<HttpOptions, 'timeoutMs' | 'maxResponseBytes'>,
    signal: AbortSignal | undefined,
    settle: (outcome: Outcome) => void,
  ) {
    this.body = body;
    this.what = what;
    this.#origin = origin;
    this.#maxBytes = limits.maxResponseBytes;
    this.#settle = settle;
    this.#signal = signal;
    signal?.addEventListener('abort', this.#onAbort, { once: true });
    this.#deadline = setTimeout(() => {
      const message = `${what}: no complete answer from ${origin} within ${limits.timeoutMs} ms`;
      this.fail(new UpstreamError('timeout', message));
    }, limits.timeoutMs);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#settled) controller.abort(new Error('given up'));
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number): void {
    this.#status = status;
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (this.#bytes > this.#maxBytes) {
      this.fail(new UpstreamError('too-large', `${this.what}: the answer exceeds ${this.#maxBytes} bytes`));
    } else {
      this.#chunks.push(chunk);
    }
  }

  onResponseEnd(): void {
    if (this.#settled) return;
    this.#finish();
    this.#settle({ answer: { status: this.#status, body: Buffer.concat(this.#chunks, this.#bytes) } });
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (!this.#settled) this.fail(transportError(error, this.what, this.#origin));
  }

  fail(error: unknown): void {
    if (this.#settled) return;
    this.#finish();
    this.#chunks = [];
    this.#controller?.abort(new Error('given up'));
    this.#settle({ error });
  }

  readonly #onAbort = (): void => this.fail(this.#signal?.reason);

  #finish(): void {
    this.#settled = true;
    clearTimeout(this.#deadline);
    this.#signal?.removeEventListener('abort', this.#onAbort);
  }
}

/** An error of undici, whose message may be empty (localhost with two addresses). Bytes that are not HTTP are the node's fault (`malformed`); everything else is the connection's. */
function transportError(error: Error & { code?: string }, what: string, origin: string): UpstreamError {
  const detail = error.message || error.code || error.name;
  if (error instanceof errors.HTTPParserError) {
    return new UpstreamError('malformed', `${what}: ${origin} does not speak HTTP: ${detail}`, undefined, {
      cause: error,
    });
  }
  return new UpstreamError('connection', `${what}: connection to ${origin} failed: ${detail}`, undefined, {
    cause: error,
  });
}

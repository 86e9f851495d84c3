/** HTTP to the node with buffered answers and bounded resources. */
import { UpstreamError } from '../../lib/errors.ts';
import {
  type NodeHttp,
  type NodeHttpOptions,
  openNodeHttp,
  type ResponseConsumer,
  type ResponseHead,
} from './streaming-client.ts';

interface BufferedHttpOptions extends Omit<NodeHttpOptions, 'maxWaitingBytes'> {
  /** Most bytes of one answer. A longer answer is aborted and fails with `too-large`. */
  maxResponseBytes: number;
}

export interface NodeResponse {
  status: number;
  /** The node's Retry-After, 0 if absent. */
  retryAfterMs: number;
  /** Where a redirect leads; null if there is none. */
  location: string | null;
  /** The reader owns the buffer and may free it. */
  body: Buffer<ArrayBuffer>;
}

/** Most bytes of all queued requests. A request takes a few kilobytes. */
const MAX_WAITING_BYTES = 64 * 2 ** 20;

/** Initial buffer for an answer of unknown length, doubled as needed. */
const FIRST_BYTES = 64 * 2 ** 10;

export class BufferedHttpClient {
  private readonly http: NodeHttp;
  private readonly maxResponseBytes: number;

  constructor({ maxResponseBytes, ...options }: BufferedHttpOptions) {
    this.http = openNodeHttp({ ...options, maxWaitingBytes: MAX_WAITING_BYTES });
    this.maxResponseBytes = maxResponseBytes;
  }

  /**
   * Posts a JSON body and resolves with the node's answer, whatever its status. Retries once if the node closed an idle
   * socket under the request, which is safe because all requests here are reads. Rejects with UpstreamError (`timeout`,
   * `connection`, `malformed`, `too-large`; `what` names the request in its message) or with the signal's reason.
   */
  post(body: string, what: string, signal?: AbortSignal): Promise<NodeResponse> {
    return this.send(Buffer.from(body).toString('latin1'), what, signal, false);
  }

  private send(
    body: string,
    what: string,
    signal: AbortSignal | undefined,
    newSocket: boolean,
  ): Promise<NodeResponse> {
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const stop = (error: unknown): void => {
        signal?.removeEventListener('abort', onAbort);
        reject(error);
      };
      const buffer = new ResponseBuffer(this.maxResponseBytes, {
        onAnswer(answer) {
          signal?.removeEventListener('abort', onAbort);
          resolve(answer);
        },
        onTooLarge: () => {
          exchange.cancel();
          const message = `${what}: the answer exceeds ${this.maxResponseBytes} bytes`;
          stop(new UpstreamError('too-large', message));
        },
        onFailed: ({ reason, message, cause }, wasAnswered) => {
          const isLost = reason === 'connection' && exchange.onUsedSocket && !wasAnswered;
          if (!isLost || newSocket) {
            return stop(
              new UpstreamError(reason, `${message}; asked ${this.http.origin}`, undefined, { cause }),
            );
          }
          signal?.removeEventListener('abort', onAbort);
          resolve(this.send(body, what, signal, true));
        },
      });
      const exchange = this.http.post(body, what, buffer, { newSocket });
      const onAbort = (): void => {
        exchange.cancel();
        reject(signal?.reason);
      };
      signal?.addEventListener('abort', onAbort, { once: true });
    });
  }

  /** Fails all requests, queued or in flight, and closes the sockets. */
  close(): void {
    this.http.close();
  }
}

interface ResponseEvents {
  onAnswer(answer: NodeResponse): void;
  onTooLarge(): void;
  /** `wasAnswered`: part of the answer had already arrived. */
  onFailed(error: UpstreamError, wasAnswered: boolean): void;
}

/** Joins the chunks of a body. */
class ResponseBuffer implements ResponseConsumer {
  private readonly maxBytes: number;
  private readonly events: ResponseEvents;
  private status = 0;
  private retryAfterMs = 0;
  private location: string | null = null;
  private body: Buffer<ArrayBuffer> = Buffer.alloc(0);
  private length = 0;

  constructor(maxBytes: number, events: ResponseEvents) {
    this.maxBytes = maxBytes;
    this.events = events;
  }

  begin({ status, length, retryAfter, location }: ResponseHead): void {
    this.status = status;
    this.retryAfterMs = (retryAfter ?? 0) * 1000;
    this.location = location;
    if (length !== null && length > this.maxBytes) this.events.onTooLarge();
    else this.body = Buffer.allocUnsafeSlow(length ?? FIRST_BYTES);
  }

  write(piece: Buffer): boolean {
    this.add(piece);
    return true;
  }

  end(last: Buffer): void {
    if (!this.add(last)) return;
    const { status, retryAfterMs, location } = this;
    this.events.onAnswer({ status, retryAfterMs, location, body: this.body.subarray(0, this.length) });
  }

  abort(error: UpstreamError): void {
    this.events.onFailed(error, this.status !== 0);
  }

  /** Returns false when the answer becomes too large. */
  private add(piece: Buffer): boolean {
    const end = this.length + piece.length;
    if (end > this.maxBytes) {
      this.events.onTooLarge();
      return false;
    }
    if (end > this.body.length) this.grow(end);
    piece.copy(this.body, this.length);
    this.length = end;
    return true;
  }

  private grow(bytes: number): void {
    const larger = Buffer.allocUnsafeSlow(Math.max(bytes, 2 * this.body.length));
    this.body.copy(larger, 0, 0, this.length);
    this.body = larger;
  }
}

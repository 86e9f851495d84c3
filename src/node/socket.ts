/** One WebSocket to the node, from connecting to its end. */
import { WebSocket } from 'ws';
import { UpstreamError } from '../lib/errors.ts';
import { guarded } from '../lib/guard.ts';
import { type Endpoint, socketErrorText } from './endpoint.ts';
import { requestHeaders } from './request-headers.ts';

export interface SocketLimits {
  /** Time to connect and complete the handshake, milliseconds. */
  connectTimeoutMs: number;
  /** Most bytes of one message. A longer one closes the socket. */
  maxMessageBytes: number;
}

interface SocketEvents {
  onOpen(): void;
  onText(text: string): void;
  /** The last event, called once, unless `close` was called first. */
  onEnd(error: UpstreamError): void;
}

/** How long a peer may take to answer our close frame, milliseconds. */
const CLOSE_TIMEOUT_MS = 250;
/**
 * Longest work on messages in one turn of the event loop, milliseconds. Messages read together with the last one still
 * follow.
 */
const MAX_TURN_MS = 4;

// Not the global WebSocket of Node.js, which has no message limit, cannot drop a connection whose peer is gone, and
// loads all of undici, 5 MB per thread.
export class NodeSocket {
  private readonly origin: string;
  private readonly events: SocketEvents;
  private readonly ws: WebSocket;
  private readonly timeout: NodeJS.Timeout;
  private ended = false;
  /** When to stop reading in this turn (performance.now()); null before the first message of a turn. */
  private turnEnds: number | null = null;
  /** The connection is plain, and the handshake is incomplete. */
  private mayExpectTls: boolean;

  constructor(endpoint: Endpoint, limits: SocketLimits, events: SocketEvents) {
    const { origin, path } = endpoint;
    this.origin = origin;
    this.events = events;
    this.mayExpectTls = origin.startsWith('ws:');
    this.ws = new WebSocket(origin + path, {
      maxPayload: limits.maxMessageBytes,
      perMessageDeflate: false,
      headers: requestHeaders(endpoint),
    });
    const onTimeout = this.guarded(() => {
      this.fail(
        new UpstreamError('timeout', `no WebSocket to ${origin} within ${limits.connectTimeoutMs} ms`),
      );
    });
    this.timeout = setTimeout(onTimeout, limits.connectTimeoutMs);
    const onMessage = this.guarded((data: WebSocket.RawData) => this.onMessage(data));
    const onClose = this.guarded((code: number, reason: Buffer) => this.onClose(code, reason.toString()));
    this.ws.on(
      'open',
      this.guarded(() => this.onOpen()),
    );
    this.ws.on('message', onMessage);
    this.ws.on(
      'error',
      this.guarded((error: Error) => this.onError(error)),
    );
    this.ws.on('close', onClose);
  }

  send(value: unknown): void {
    this.ws.send(JSON.stringify(value));
  }

  /** Ends the connection at once and reports `error`. */
  fail(error: UpstreamError): void {
    if (this.ended) return;
    this.ended = true;
    clearTimeout(this.timeout);
    this.ws.terminate();
    this.events.onEnd(error);
  }

  /** Closes the connection with a close frame; resolves when it is closed. No event follows. */
  async close(): Promise<void> {
    if (this.ended) return;
    this.ended = true;
    clearTimeout(this.timeout);
    const closed = new Promise((resolve) => this.ws.once('close', resolve));
    const timer = setTimeout(() => this.ws.terminate(), CLOSE_TIMEOUT_MS);
    if (this.ws.readyState === WebSocket.OPEN) this.ws.close(1000);
    else this.ws.terminate();
    await closed;
    clearTimeout(timer);
  }

  /** Callbacks of the library: a defect in handling what the node sends ends the connection, as malformed. */
  private guarded<A extends unknown[]>(callback: (...args: A) => void): (...args: A) => void {
    return guarded('WebSocket to the node', callback, () =>
      this.fail(new UpstreamError('malformed', `${this.origin} sent a message that could not be handled`)),
    );
  }

  private onOpen(): void {
    if (this.ended) return;
    this.mayExpectTls = false;
    clearTimeout(this.timeout);
    this.events.onOpen();
  }

  /** Proxies that pass messages on as bytes send the text as a binary message. */
  private onMessage(data: WebSocket.RawData): void {
    if (this.ended) return;
    this.turnEnds ??= this.beginTurn();
    this.events.onText(data.toString());
    if (performance.now() > this.turnEnds) this.ws.pause();
  }

  /** Limits the turn: ws would read everything that has arrived, 2 MB, which is up to a second of small messages. */
  private beginTurn(): number {
    const endTurn = this.guarded(() => {
      this.turnEnds = null;
      this.ws.resume();
    });
    setImmediate(endTurn);
    return performance.now() + MAX_TURN_MS;
  }

  private onError(error: Error & { code?: string }): void {
    const message = `WebSocket to ${this.origin}: ${socketErrorText(error, this.mayExpectTls)}`;
    this.fail(new UpstreamError('connection', message, undefined, { cause: error }));
  }

  private onClose(code: number, reason: string): void {
    const detail = reason === '' ? `code ${code}` : `code ${code}: ${reason}`;
    this.fail(new UpstreamError('connection', `the WebSocket to ${this.origin} ended (${detail})`));
  }
}

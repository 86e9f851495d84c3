/** One WebSocket to the node, from the attempt to connect until it ends once, for whatever cause. */
import type { Socket } from 'node:net';
import { Agent, buildConnector, WebSocket } from 'undici';
import { UpstreamError } from '../errors.ts';
import type { Endpoint } from './endpoint.ts';

export interface SocketLimits {
  /** Milliseconds to connect and be accepted. */
  connectTimeoutMs: number;
  /** Bytes of one message; a longer one ends the socket. */
  maxMessageBytes: number;
}

export interface SocketEvents {
  onOpen(): void;
  onText(text: string): void;
  /** Called once, unless `destroy` came first; nothing is called after it. */
  onEnd(error: UpstreamError): void;
}

/** How long a peer may take to answer our goodbye. */
const CLOSE_TIMEOUT_MS = 1000;

// undici's own WebSocket and not the global one of Node.js, which has neither a message limit nor a way to
// take down a connection whose other end no longer answers.
export class NodeSocket {
  readonly #origin: string;
  readonly #events: SocketEvents;
  readonly #agent: Agent;
  readonly #ws: WebSocket;
  readonly #timeout: NodeJS.Timeout;
  #tcp: Socket | undefined;
  #connectError: Error | undefined;
  #ended = false;

  constructor(endpoint: Endpoint, limits: SocketLimits, events: SocketEvents) {
    this.#origin = endpoint.origin;
    this.#events = events;
    this.#agent = new Agent({
      connect: this.#connector(limits.connectTimeoutMs),
      webSocket: { maxPayloadSize: limits.maxMessageBytes },
    });
    const { authorization } = endpoint;
    this.#ws = new WebSocket(endpoint.origin + endpoint.path, {
      dispatcher: this.#agent,
      ...(authorization && { headers: { authorization } }),
    });
    this.#timeout = setTimeout(() => {
      this.fail(
        new UpstreamError('timeout', `no WebSocket to ${this.#origin} within ${limits.connectTimeoutMs} ms`),
      );
    }, limits.connectTimeoutMs);
    this.#ws.addEventListener('open', () => this.#onOpen());
    this.#ws.addEventListener('message', (event) => this.#onMessage(event.data));
    this.#ws.addEventListener('close', (event) => this.fail(this.#closeError(event.code, event.reason)));
  }

  send(value: unknown): void {
    this.#ws.send(JSON.stringify(value));
  }

  /** Ends the connection at once and reports `error`. */
  fail(error: UpstreamError): void {
    if (this.#ended) return;
    this.#release();
    this.#events.onEnd(error);
  }

  /** Takes leave of the node; resolves when the connection is gone. No event follows. */
  async close(): Promise<void> {
    if (this.#ended) return;
    this.#ended = true;
    clearTimeout(this.#timeout);
    if (this.#ws.readyState === WebSocket.OPEN) {
      const closed = new Promise((resolve) => this.#ws.addEventListener('close', resolve, { once: true }));
      const timer = setTimeout(() => this.#tcp?.destroy(), CLOSE_TIMEOUT_MS);
      this.#ws.close(1000);
      await closed;
      clearTimeout(timer);
    }
    this.#tcp?.destroy();
    await this.#agent.destroy();
  }

  #onOpen(): void {
    if (this.#ended) return;
    clearTimeout(this.#timeout);
    this.#events.onOpen();
  }

  #onMessage(data: unknown): void {
    if (this.#ended) return;
    if (typeof data === 'string') this.#events.onText(data);
    else this.fail(new UpstreamError('malformed', `${this.#origin} sent a binary WebSocket message`));
  }

  #release(): void {
    this.#ended = true;
    clearTimeout(this.#timeout);
    this.#tcp?.destroy();
    // Not awaited: there is nothing left that it could wait for.
    void this.#agent.destroy();
  }

  /** undici's connector, watched: the WebSocket API tells neither why connecting failed nor what socket it uses. */
  #connector(timeout: number): buildConnector.connector {
    const connect = buildConnector({ timeout, allowH2: false });
    return (options, callback) => {
      connect(options, (...outcome) => {
        if (outcome[0] !== null) this.#connectError = outcome[0];
        else this.#tcp = outcome[1];
        if (this.#ended) this.#tcp?.destroy();
        callback(...outcome);
      });
    };
  }

  #closeError(code: number, reason: string): UpstreamError {
    if (this.#connectError !== undefined) {
      const message = `connection to ${this.#origin} failed: ${this.#connectError.message}`;
      return new UpstreamError('connection', message, undefined, { cause: this.#connectError });
    }
    const detail = reason === '' ? `code ${code}` : `code ${code}: ${reason}`;
    return new UpstreamError('connection', `the WebSocket to ${this.#origin} ended (${detail})`);
  }
}

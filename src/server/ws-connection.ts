/** One WebSocket connection of a client. */
import type { KeyRecord } from '../access/keys.ts';
import type { CloseCode } from '../stream/close-code.ts';
import { FLOODING, SLOW_CONSUMER } from '../stream/closing.ts';
import type { Notice } from '../stream/notice.ts';
import type { Session } from '../stream/session.ts';
import type { Outlet } from '../stream/subscription.ts';
import type { WebSocket } from './uws.ts';
import type { Inbox } from './ws-inbox.ts';
import { Outbox, type OutboxLimits } from './ws-outbox.ts';

/**
 * Pings and refused messages within a second after which a client is cut off. At seven bytes each they can arrive faster
 * than they can be answered, and the library reads half a megabyte from one socket before it serves the next.
 */
const MAX_NOISE = 1_000;

export type WsEndpoint = '/ws' | '/ws/signals';

/** Data that the upgrade attaches to the socket. */
export interface SocketData {
  key: KeyRecord;
  /** The key itself: looked up again for each message, so that a change or revocation takes effect at once. */
  keyText: string;
  /** Set when the socket is open. */
  client?: Client;
}

export interface Client {
  connection: WsConnection;
  session: Session;
  inbox: Inbox;
}

export interface ConnectionOptions {
  endpoint: WsEndpoint;
  limits: OutboxLimits;
  /** Told when the client did not take what it was sent. */
  onSlow: () => void;
}

export class WsConnection implements Outlet {
  readonly endpoint: WsEndpoint;
  readonly keyId: number;
  readonly keyText: string;
  /** Unix milliseconds. */
  readonly openedAt = Date.now();
  /** performance.now() of the last sign of life, and of the last ping. */
  lastSeen = performance.now();
  lastPing = performance.now();
  private readonly socket: WebSocket<SocketData>;
  private readonly outbox: Outbox;
  private readonly gone = new AbortController();
  private ending = false;
  /** Pings and refused messages since `noiseSince`, a time of performance.now(). */
  private noise = 0;
  private noiseSince = 0;

  constructor(socket: WebSocket<SocketData>, { endpoint, limits, onSlow }: ConnectionOptions) {
    const { key, keyText } = socket.getUserData();
    this.socket = socket;
    this.endpoint = endpoint;
    this.keyId = key.id;
    this.keyText = keyText;
    this.outbox = new Outbox(socket, limits, () => {
      onSlow();
      this.close(...SLOW_CONSUMER);
    });
  }

  /** Aborts when the connection ends: work still going on for it is no longer needed. */
  get signal(): AbortSignal {
    return this.gone.signal;
  }

  /** Whether closing has begun; what the client still sends is ignored. */
  get ended(): boolean {
    return this.ending;
  }

  get backlog(): number {
    return this.outbox.backlog;
  }

  /** Bytes of pongs that the client has not read. */
  get unsentPongs(): number {
    return this.outbox.unsentPongs;
  }

  push(notice: Notice, id: Uint8Array): void {
    this.outbox.notify(notice, id);
  }

  /** Sends the answer to a call. */
  answer(text: string | Buffer): void {
    this.outbox.answer(text);
  }

  /** Counts a ping or a refused message. */
  disturbed(): void {
    const now = performance.now();
    if (now - this.noiseSince > 1_000) {
      this.noiseSince = now;
      this.noise = 0;
    }
    if (++this.noise > MAX_NOISE) this.close(...FLOODING);
  }

  whenDrained(callback: () => void): void {
    this.outbox.whenDrained(callback);
  }

  onDrain(): void {
    this.outbox.onDrain();
  }

  ping(now: number): void {
    this.lastPing = now;
    if (!this.ending) this.socket.ping();
  }

  /** Closes the connection with a close frame, after the present task, so that no loop over connections is disturbed. */
  close(code: CloseCode, reason: string): void {
    if (this.ending) return;
    this.ending = true;
    this.outbox.stop();
    queueMicrotask(() => {
      if (!this.gone.signal.aborted) this.socket.end(code, reason);
    });
  }

  /** Call it when the socket is closed, by either side. */
  onClosed(): void {
    this.ending = true;
    this.outbox.stop();
    this.gone.abort();
  }
}

/** One WebSocket connection of a client. */
import type { KeyRecord } from '../access/keys.ts';
import type { CloseCode } from '../stream/close-code.ts';
import { FLOODING, SLOW_CONSUMER, TOO_FAST } from '../stream/close-frames.ts';
import type { Notification } from '../stream/notification.ts';
import type { Session } from '../stream/session.ts';
import type { ClientConnection } from '../stream/subscription.ts';
import { TurnGuard } from './turn-guard.ts';
import type { WebSocket } from './uws.ts';
import type { Inbox } from './ws-inbox.ts';
import { Outbox, type OutboxLimits } from './ws-outbox.ts';

/**
 * A client that sends more pings, pongs and refused messages in a second is cut off. At seven bytes each they can
 * arrive faster than they are handled, and the library reads half a megabyte from one socket before the next.
 */
const MAX_FLOOD_PER_SECOND = 1_000;

export type WsEndpoint = '/ws' | '/ws/signals';

/** Data that the upgrade attaches to the socket. */
export interface SocketData {
  key: KeyRecord;
  /** The key itself: looked up again for each message, so that a change or revocation takes effect at once. */
  apiKey: string;
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
  /** Called when the client did not take what it was sent. */
  onSlowConsumer: () => void;
}

export class WsConnection implements ClientConnection {
  readonly endpoint: WsEndpoint;
  readonly keyId: number;
  readonly apiKey: string;
  /** Unix milliseconds. */
  readonly openedAt = Date.now();
  /** performance.now() of the last sign of life, and of the last ping. */
  lastSeen = performance.now();
  lastPing = performance.now();
  private readonly socket: WebSocket<SocketData>;
  private readonly outbox: Outbox;
  private readonly abortController = new AbortController();
  private closing = false;
  /** Pings, pongs and refused messages since `floodWindowStart`, a time of performance.now(). */
  private floodCount = 0;
  private floodWindowStart = 0;
  private readonly turns = new TurnGuard();

  constructor(socket: WebSocket<SocketData>, { endpoint, limits, onSlowConsumer }: ConnectionOptions) {
    const { key, apiKey } = socket.getUserData();
    this.socket = socket;
    this.endpoint = endpoint;
    this.keyId = key.id;
    this.apiKey = apiKey;
    this.outbox = new Outbox(socket, limits, () => {
      onSlowConsumer();
      this.close(...SLOW_CONSUMER);
    });
  }

  /** Aborts when the connection ends: work still going on for it is no longer needed. */
  get signal(): AbortSignal {
    return this.abortController.signal;
  }

  /** Whether closing has begun; what the client still sends is ignored. */
  get isClosing(): boolean {
    return this.closing;
  }

  get backlogBytes(): number {
    return this.outbox.backlogBytes;
  }

  /** Bytes of pongs that the client has not read. */
  get unsentPongBytes(): number {
    return this.outbox.unsentPongBytes;
  }

  push(notification: Notification, id: Uint8Array): void {
    this.outbox.notify(notification, id);
  }

  /** Sends the answer to a call, or what is given `instead` when there is no room for it. */
  answer(text: string | Buffer, instead?: () => string): void {
    this.outbox.answer(text, instead);
  }

  /** Counts a ping, a pong or a refused message. */
  countTowardsFlood(): void {
    const now = performance.now();
    if (now - this.floodWindowStart > 1_000) {
      this.floodWindowStart = now;
      this.floodCount = 0;
    }
    if (++this.floodCount > MAX_FLOOD_PER_SECOND) this.close(...FLOODING);
  }

  /** Counts a message: those that are not refused may come faster than they can be handled, too. */
  countTowardsTurn(): void {
    if (this.turns.isTooLong()) this.close(...TOO_FAST);
  }

  whenDrained(callback: () => void): void {
    this.outbox.whenDrained(callback);
  }

  onDrain(): void {
    this.outbox.onDrain();
  }

  ping(now: number): void {
    this.lastPing = now;
    if (!this.closing) this.socket.ping();
  }

  /** Closes with a close frame, after the present task, so that no loop over connections is disturbed. */
  close(code: CloseCode, reason: string): void {
    if (this.closing) return;
    this.closing = true;
    this.outbox.stop();
    queueMicrotask(() => {
      if (!this.abortController.signal.aborted) this.socket.end(code, reason);
    });
  }

  /** Call it when the socket is closed, by either side. */
  onClosed(): void {
    this.closing = true;
    this.outbox.stop();
    this.abortController.abort();
  }
}

/** One WebSocket connection of a client. */
import { type KeyRecord, PUBLIC_KEY } from '../../access/key.ts';
import { LargeAnswer } from '../../gateway/large-answer.ts';
import { guarded } from '../../lib/guard.ts';
import { type CloseCode, FLOODING, INTERNAL_FAILURE, SLOW_CONSUMER, TOO_FAST } from '../../streams/close.ts';
import type { ClientConnection, Notification, Payer, Session } from '../../streams/subscription.ts';
import { EventLoopGuard } from '../overload.ts';
import type { WebSocket } from '../uws.ts';
import type { Inbox } from './inbox.ts';
import { Outbox, type OutboxLimits } from './outbox.ts';

/**
 * Most pings, pongs and refused messages per second. A client that sends more is cut off: at seven bytes each, they can
 * arrive faster than we handle them, and the library reads half a megabyte from one socket before it turns to the next.
 */
const MAX_FLOOD_PER_SECOND = 1_000;

export type WsEndpoint = '/ws' | '/ws/signals';

/** Data that the upgrade attaches to the socket. */
export interface SocketData {
  key: KeyRecord;
  /** The key itself, looked up for each message so that a change or revocation takes effect at once. */
  apiKey: string;
  /** The client's IP address. */
  address: string;
  /** Set when the socket is open. */
  client?: Client;
}

export interface Client {
  connection: WsConnection;
  session: Session;
  inbox: Inbox;
}

/** Visitors to the public explorer share a key, so each counts by address. */
export function holderOf({ key, apiKey, address }: SocketData): string | number {
  return apiKey === PUBLIC_KEY ? `${PUBLIC_KEY} ${address}` : key.id;
}

interface ConnectionOptions {
  endpoint: WsEndpoint;
  limits: OutboxLimits;
  payer: Payer;
  /** Called when the client does not read its messages. */
  onSlowConsumer: () => void;
}

export class WsConnection implements ClientConnection {
  private static opened = 0;
  /** Unique within this run of the daemon. */
  readonly id = ++WsConnection.opened;
  readonly endpoint: WsEndpoint;
  readonly keyId: number;
  readonly payer: Payer;
  readonly apiKey: string;
  readonly address: string;
  /** Connections are counted per holder. */
  readonly holder: string | number;
  /** Unix milliseconds. */
  readonly openedAt = Date.now();
  /** Liveness checks since the client's last sign of life. */
  quietChecks = 0;
  /** By performance.now(). */
  lastPing = performance.now();
  private readonly socket: WebSocket<SocketData>;
  private readonly outbox: Outbox;
  private readonly abortController = new AbortController();
  private closing = false;
  /** Pings, pongs and refused messages since `floodWindowStart` (performance.now()). */
  private floodCount = 0;
  private floodWindowStart = 0;
  private readonly eventLoopGuard = new EventLoopGuard();

  constructor(socket: WebSocket<SocketData>, { endpoint, limits, payer, onSlowConsumer }: ConnectionOptions) {
    const { key, apiKey, address } = socket.getUserData();
    this.socket = socket;
    this.endpoint = endpoint;
    this.keyId = key.id;
    this.payer = payer;
    this.apiKey = apiKey;
    this.address = address;
    this.holder = holderOf({ key, apiKey, address });
    const onOverflow = () => {
      onSlowConsumer();
      this.close(...SLOW_CONSUMER);
    };
    this.outbox = new Outbox(socket, limits, onOverflow, () => this.close(...INTERNAL_FAILURE));
  }

  /** Aborts when the connection ends, to cancel its pending work. */
  get signal(): AbortSignal {
    return this.abortController.signal;
  }

  /** Whether closing has begun. Further messages of the client are ignored. */
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

  /** Sends the answer to a call, or `fallback` if the answer exceeds the budget. */
  answer(answer: string | Buffer | LargeAnswer, fallback?: () => string): void {
    if (answer instanceof LargeAnswer) this.outbox.answerLarge(answer);
    else this.outbox.answer(answer, fallback);
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

  /** Counts a message. Even valid messages may arrive faster than we handle them. */
  countMessage(): void {
    if (this.eventLoopGuard.isTooLong()) this.close(...TOO_FAST);
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

  /** Closes with a close frame after the current task, so as not to disturb loops over connections. */
  close(code: CloseCode, reason: string): void {
    if (this.closing) return;
    this.closing = true;
    this.outbox.stop();
    const end = guarded('close of a WebSocket', () => {
      if (!this.abortController.signal.aborted) this.socket.end(code, reason);
    });
    queueMicrotask(end);
  }

  /** Call when either side has closed the socket. */
  onClosed(): void {
    this.closing = true;
    this.outbox.stop();
    this.abortController.abort();
  }
}

/** A client's subscription: where its notifications go, and the rule that none is sent before the subscribe reply. */
import type { CloseCode } from './close-code.ts';
import { SLOW_CONSUMER } from './close-frames.ts';
import { type Notification, newSubscriptionId } from './notification.ts';

/** The connection of a client, as the streams see it. */
export interface ClientConnection {
  /** Bytes pushed but not yet sent. */
  readonly backlogBytes: number;
  /** Sends a notification soon, in the order of the calls. Closes the connection when its backlog grows too large. */
  push(notification: Notification, id: Uint8Array): void;
  /** Calls back once, when the backlog is sent; never if the connection closes first. */
  whenDrained(callback: () => void): void;
  /** Closes the connection; `reason` tells the client why in at most 123 bytes. */
  close(code: CloseCode, reason: string): void;
}

/** Counts the notifications of one topic. A plain number, since each of them increments it. */
export interface NotificationCount {
  total: number;
}

export class Subscription {
  readonly id = newSubscriptionId();
  readonly topic: string;
  readonly connection: ClientConnection;
  /** Has its own memory: a small Buffer would keep alive the 8 KiB of Node's pool that it is a slice of. */
  private readonly idBytes = new Uint8Array(Buffer.from(this.id));
  private readonly sent: NotificationCount;
  private readonly maxHeldBytes: number;
  /** Notifications that wait for the reply; null from `release` on. */
  private held: Notification[] | null = [];
  private heldBytes = 0;
  private releaseCallbacks: (() => void)[] = [];

  constructor(topic: string, connection: ClientConnection, sent: NotificationCount, maxHeldBytes: number) {
    this.topic = topic;
    this.connection = connection;
    this.sent = sent;
    this.maxHeldBytes = maxHeldBytes;
  }

  push(notification: Notification): void {
    if (this.held === null) return this.send(notification);
    this.held.push(notification);
    this.heldBytes += notification.byteLength;
    // In a batch the subscribe reply waits for the slowest call, so the notifications waiting here need a limit too.
    if (this.heldBytes > this.maxHeldBytes) this.connection.close(...SLOW_CONSUMER);
  }

  /** The reply is on its way: sends the held notifications after it. */
  release(): void {
    const held = this.held ?? [];
    this.held = null;
    for (const notification of held) this.send(notification);
    for (const callback of this.releaseCallbacks.splice(0)) callback();
  }

  /** Calls back when the reply is on its way. */
  onRelease(callback: () => void): void {
    if (this.held === null) callback();
    else this.releaseCallbacks.push(callback);
  }

  private send(notification: Notification): void {
    this.sent.total++;
    this.connection.push(notification, this.idBytes);
  }
}

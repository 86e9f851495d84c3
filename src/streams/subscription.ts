/** A client's subscription: counts and sends its notifications, but none before the subscribe reply. */
import { type CloseCode, SLOW_CONSUMER } from './close.ts';
import { type Notification, type NotificationCount, newSubscriptionId } from './notification.ts';

/** The API key of a connection, which pays for replays. */
export interface Payer {
  readonly key: number;
  /** Charges one request. Returns the reason if the request is not admitted. */
  charge(): { code: 'rate_limited' | 'quota_exceeded'; waitMs: number } | null;
}

/** A client's connection, as seen by the streams. */
export interface ClientConnection {
  readonly payer: Payer;
  /** Bytes pushed but not yet sent. */
  readonly backlogBytes: number;
  /** Queues a notification, in call order. Closes the connection if its backlog grows too large. */
  push(notification: Notification, id: Uint8Array): void;
  /** Runs the callback once the backlog is sent; never if the connection closes first. */
  whenDrained(callback: () => void): void;
  /** Closes the connection; `reason` tells the client why in at most 123 bytes. */
  close(code: CloseCode, reason: string): void;
}

export class Subscription {
  readonly id = newSubscriptionId();
  readonly topic: string;
  readonly connection: ClientConnection;
  /** A copy: a small Buffer is a slice of Node's 8 KiB pool and would keep all of it alive. */
  private readonly idBytes = new Uint8Array(Buffer.from(this.id));
  private readonly sent: NotificationCount;
  private readonly maxHeldBytes: number;
  /** Notifications held until the reply; null after `release`. */
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
    // In a batch the subscribe reply waits for the slowest call, so held notifications need a limit too.
    if (this.heldBytes > this.maxHeldBytes) this.connection.close(...SLOW_CONSUMER);
  }

  /** Sends the held notifications. Call it once the reply is queued. */
  release(): void {
    const held = this.held ?? [];
    this.held = null;
    for (const notification of held) this.send(notification);
    for (const callback of this.releaseCallbacks.splice(0)) callback();
  }

  /** Runs the callback once the reply is queued. */
  onRelease(callback: () => void): void {
    if (this.held === null) callback();
    else this.releaseCallbacks.push(callback);
  }

  private send(notification: Notification): void {
    this.sent.total++;
    this.connection.push(notification, this.idBytes);
  }
}

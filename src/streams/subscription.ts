/**
 * A client's subscriptions: each counts and sends its notifications, but none before the subscribe reply. A
 * notification is serialised once for all subscribers. Only the subscription id differs, and all ids have the same
 * length, so the id is written into the serialised message just before sending.
 */
import { ID_CHARS, newQuantityId, readQuantityId } from '../lib/quantity-id.ts';
import { type Metrics, trackTotal } from '../metrics/metrics.ts';
import { type CloseCode, SLOW_CONSUMER } from './close.ts';
import { subscriptionLimitReached, subscriptionNotFound, unknownSubscription } from './subscribe-errors.ts';

const ID_PLACE = Buffer.alloc(ID_CHARS, '0').toString();

export type NotificationMethod = 'eth_subscription' | 'atlas_subscription';

const PREFIXES: Record<NotificationMethod, string> = {
  eth_subscription: messagePrefix('eth_subscription'),
  atlas_subscription: messagePrefix('atlas_subscription'),
};

function messagePrefix(method: NotificationMethod): string {
  return `{"jsonrpc":"2.0","method":"${method}","params":{"subscription":"`;
}

export class Notification {
  private readonly message: Buffer;
  private readonly idOffset: number;

  /** `result` is JSON text. */
  constructor(method: NotificationMethod, result: string) {
    const start = PREFIXES[method];
    this.idOffset = start.length;
    this.message = Buffer.from(`${start}${ID_PLACE}","result":${result}}}`);
  }

  get byteLength(): number {
    return this.message.length;
  }

  /**
   * The message for a subscription id (ASCII bytes). All calls share one buffer, so send the message before the next
   * call.
   */
  messageFor(id: Uint8Array): Buffer {
    this.message.set(id, this.idOffset);
    return this.message;
  }
}

/** The notification count of one topic. A plain number, because every notification increments it. */
interface NotificationCount {
  total: number;
}

/** Notifications sent, by topic: plain numbers, copied to the metrics on collection. */
export class NotificationCounts {
  private readonly byTopic = new Map<string, NotificationCount>();

  constructor(metrics: Pick<Metrics, 'notifications' | 'onCollect'>) {
    const follow = trackTotal(metrics.notifications);
    metrics.onCollect(() => {
      for (const [topic, { total }] of this.byTopic) follow(total, { topic });
    });
  }

  of(topic: string): NotificationCount {
    let count = this.byTopic.get(topic);
    if (count === undefined) {
      count = { total: 0 };
      this.byTopic.set(topic, count);
    }
    return count;
  }
}

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
  readonly id: string = newQuantityId();
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

/** Ends a subscription, which then gets no more notifications. */
export type Unsubscribe = () => void;

/**
 * Starts pushing to a subscription. Rejects with RequestError for invalid parameters. After it resolves, no event is
 * missed.
 */
export type TopicHandler = (
  params: readonly unknown[],
  subscription: Subscription,
) => Promise<Unsubscribe> | Unsubscribe;

interface SessionOptions {
  handlers: ReadonlyMap<string, TopicHandler>;
  connection: ClientConnection;
  maxSubscriptions: number;
  /** Most bytes of notifications held until the subscribe reply. */
  maxHeldBytes: number;
  metrics: Pick<Metrics, 'subscriptions'>;
  counts: NotificationCounts;
}

export type StreamMetrics = Pick<Metrics, 'subscriptions' | 'notifications' | 'pushAge' | 'onCollect'>;

/** The subscriptions of one connection. */
export class Session {
  private readonly options: SessionOptions;
  private readonly active = new Map<string, { topic: string; unsubscribe: Unsubscribe }>();
  /** Subscribes in progress; they count against the limit. */
  private pendingSubscribes = 0;
  private closed = false;

  constructor(options: SessionOptions) {
    this.options = options;
  }

  /** Topics of the active subscriptions. */
  get topics(): string[] {
    return [...this.active.values()].map(({ topic }) => topic);
  }

  /**
   * Creates a subscription. Holds its notifications until the caller has sent the reply and calls `release`. Rejects
   * with RequestError.
   */
  async subscribe(name: string, params: readonly unknown[]): Promise<Subscription> {
    const { handlers, connection, maxSubscriptions, maxHeldBytes, counts } = this.options;
    const handler = handlers.get(name);
    if (handler === undefined) throw unknownSubscription(name);
    if (this.active.size + this.pendingSubscribes >= maxSubscriptions) throw subscriptionLimitReached();
    const subscription = new Subscription(name, connection, counts.of(name), maxHeldBytes);
    this.pendingSubscribes++;
    try {
      const unsubscribe = await handler(params, subscription);
      this.activate(subscription, unsubscribe);
    } finally {
      this.pendingSubscribes--;
    }
    return subscription;
  }

  /** Throws RequestError if this connection has no subscription with this id, in any spelling of the quantity. */
  unsubscribe(spelled: string): void {
    const id = readQuantityId(spelled);
    const subscription = id === null ? undefined : this.active.get(id);
    if (id === null || subscription === undefined) throw subscriptionNotFound();
    this.active.delete(id);
    this.finish(subscription);
  }

  /** Ends all subscriptions, including those in progress. */
  close(): void {
    this.closed = true;
    for (const subscription of this.active.values()) this.finish(subscription);
    this.active.clear();
  }

  private activate({ id, topic }: Subscription, unsubscribe: Unsubscribe): void {
    if (this.closed) return unsubscribe();
    this.active.set(id, { topic, unsubscribe });
    this.options.metrics.subscriptions.inc({ topic });
  }

  private finish({ topic, unsubscribe }: { topic: string; unsubscribe: Unsubscribe }): void {
    this.options.metrics.subscriptions.dec({ topic });
    unsubscribe();
  }
}

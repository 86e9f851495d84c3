/** The subscriptions of one connection. */
import type { Metrics } from '../metrics/metrics.ts';
import { subscriptionLimitReached, subscriptionNotFound, unknownSubscription } from './subscribe-errors.ts';
import { type ClientConnection, type NotificationCounts, Subscription } from './subscription.ts';

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

  /** Throws RequestError if this connection has no subscription with this id. */
  unsubscribe(id: string): void {
    const subscription = this.active.get(id);
    if (subscription === undefined) throw subscriptionNotFound();
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

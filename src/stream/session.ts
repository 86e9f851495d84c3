/** The subscriptions of one connection. */
import type { Metrics } from '../metrics.ts';
import type { NotificationCounts } from './notification-counts.ts';
import { subscriptionLimit, subscriptionNotFound, unknownSubscription } from './refusals.ts';
import { type Outlet, Subscription } from './subscription.ts';

/** Ends a subscription: nothing is pushed to it any more. */
export type End = () => void;

/**
 * Begins to push to a subscription what its parameters ask for. Rejects with RequestError for invalid parameters. Once
 * it has resolved, no event is missed.
 */
export type Topic = (params: readonly unknown[], subscription: Subscription) => Promise<End> | End;

export interface SessionOptions {
  topics: ReadonlyMap<string, Topic>;
  outlet: Outlet;
  /** Most subscriptions. */
  maxSubscriptions: number;
  /** Most bytes of notices that may wait for the subscribe reply. */
  maxHeldBytes: number;
  metrics: Pick<Metrics, 'subscriptions'>;
  counts: NotificationCounts;
}

export type StreamMetrics = Pick<Metrics, 'subscriptions' | 'notifications' | 'pushAge' | 'onRender'>;

export class Session {
  private readonly options: SessionOptions;
  private readonly active = new Map<string, { topic: string; end: End }>();
  /** Subscribes in progress; they count against the limit. */
  private opening = 0;
  private closed = false;

  constructor(options: SessionOptions) {
    this.options = options;
  }

  /** The topic of each subscription. */
  get topics(): string[] {
    return [...this.active.values()].map(({ topic }) => topic);
  }

  /**
   * Makes a subscription. Its notices are held until `release` is called on it, which must follow the reply.
   * Rejects with RequestError.
   */
  async subscribe(name: string, params: readonly unknown[]): Promise<Subscription> {
    const { topics, outlet, maxSubscriptions, maxHeldBytes, counts } = this.options;
    const topic = topics.get(name);
    if (topic === undefined) throw unknownSubscription(name);
    if (this.active.size + this.opening >= maxSubscriptions) throw subscriptionLimit();
    const subscription = new Subscription(name, outlet, counts.of(name), maxHeldBytes);
    this.opening++;
    try {
      const end = await topic(params, subscription);
      this.admit(subscription, end);
    } finally {
      this.opening--;
    }
    return subscription;
  }

  /** Ends a subscription. Throws RequestError when this connection has none of that id. */
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

  private admit({ id, topic }: Subscription, end: End): void {
    if (this.closed) return end();
    this.active.set(id, { topic, end });
    this.options.metrics.subscriptions.inc({ topic });
  }

  private finish({ topic, end }: { topic: string; end: End }): void {
    this.options.metrics.subscriptions.dec({ topic });
    end();
  }
}

/**
 * A subscription at the node whose notifications are passed on as the node sends them, to clients and inside the
 * daemon.
 */
import type { Logger } from '../../log/logger.ts';
import { MalformedNotifications, type NodeSubscriptions } from '../../node/connection.ts';
import { jsonOf } from '../../node/reply.ts';
import { subscriptionEndedByNode } from '../close.ts';
import { awaitUpstream, rethrowNodeRefusal } from '../subscribe-errors.ts';
import { Notification, type Subscription, type Unsubscribe } from '../subscription.ts';
import { SharedNodeSubscription } from './shared-node-subscription.ts';

/** A listener inside the daemon. */
export interface NodeTopicListener {
  /** `json` is the payload as JSON text. */
  onEvent(json: string): void;
  /** The node ended a subscription that it had accepted. */
  onLost(): void;
}

export class NodeTopicStream {
  private readonly topic: string;
  private readonly shared: SharedNodeSubscription;
  private readonly malformed: MalformedNotifications;
  private readonly subscriptions = new Set<Subscription>();
  private readonly listeners = new Set<NodeTopicListener>();

  /** `params` of eth_subscribe at the node, beginning with the topic; `kind` of notification, for the log. */
  constructor(
    subscriptions: NodeSubscriptions,
    params: readonly [topic: string, ...rest: unknown[]],
    kind: string,
    log: Logger,
  ) {
    [this.topic] = params;
    this.malformed = new MalformedNotifications(log, kind);
    this.shared = new SharedNodeSubscription({
      subscriptions,
      params,
      onEvent: (result) => this.publish(result),
      onLost: () => {
        for (const { connection } of this.subscriptions)
          connection.close(...subscriptionEndedByNode(this.topic));
        for (const listener of this.listeners) listener.onLost();
      },
    });
  }

  /** Rejects with RequestError; `rethrow` translates the node's refusal. */
  async subscribe(subscription: Subscription, rethrow = rethrowNodeRefusal): Promise<Unsubscribe> {
    const release = await awaitUpstream(this.shared.acquire().catch(rethrow));
    this.subscriptions.add(subscription);
    return () => {
      this.subscriptions.delete(subscription);
      release();
    };
  }

  /**
   * Resolves once the node has accepted the subscription, with a function that ends it; rejects with UpstreamError,
   * `rpc` when the node refuses it.
   */
  async listen(listener: NodeTopicListener): Promise<() => void> {
    const release = await this.shared.acquire();
    this.listeners.add(listener);
    return () => {
      this.listeners.delete(listener);
      release();
    };
  }

  private publish(result: unknown): void {
    if (this.subscriptions.size === 0 && this.listeners.size === 0) return;
    const json = this.serialize(result);
    if (json === null) return;
    for (const listener of this.listeners) listener.onEvent(json);
    if (this.subscriptions.size === 0) return;
    const notification = new Notification('eth_subscription', json);
    for (const subscription of this.subscriptions) subscription.push(notification);
  }

  private serialize(result: unknown): string | null {
    try {
      return jsonOf(result, this.topic);
    } catch (error) {
      this.malformed.report(error);
      return null;
    }
  }
}

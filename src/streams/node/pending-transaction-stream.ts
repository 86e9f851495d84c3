/** `newPendingTransactions`: hashes or, on request, whole transactions, as the node announces them. */
import { UpstreamError } from '../../lib/errors.ts';
import type { Logger } from '../../log/logger.ts';
import { MalformedNotifications, type NodeSubscriptions } from '../../node/connection.ts';
import { isBusy } from '../../node/node-errors.ts';
import { jsonOf } from '../../node/reply.ts';
import { subscriptionEndedByNode } from '../close.ts';
import { awaitUpstream, invalidParams } from '../subscribe-errors.ts';
import { Notification, type Subscription, type Unsubscribe } from '../subscription.ts';
import { SharedNodeSubscription } from './shared-node-subscription.ts';

export class PendingTransactionStream {
  private readonly hashes: SharedPendingStream;
  private readonly whole: SharedPendingStream;

  constructor(subscriptions: NodeSubscriptions, log: Logger) {
    this.hashes = new SharedPendingStream(subscriptions, ['newPendingTransactions'], log);
    this.whole = new SharedPendingStream(subscriptions, ['newPendingTransactions', true], log);
  }

  /** `full` is the optional second parameter of eth_subscribe. */
  subscribe(full: unknown, subscription: Subscription): Promise<Unsubscribe> {
    if (full !== undefined && full !== null && typeof full !== 'boolean') {
      throw invalidParams('the second parameter of newPendingTransactions must be true or false');
    }
    return (full === true ? this.whole : this.hashes).subscribe(subscription);
  }

  /**
   * Listens to the hashes of pending transactions. Resolves once the node has accepted the subscription, with a
   * function that ends it; rejects with UpstreamError, `rpc` when the node offers none.
   */
  listen(listener: PendingListener): Promise<() => void> {
    return this.hashes.listen(listener);
  }
}

/** A listener inside the daemon. */
export interface PendingListener {
  /** `json` is the hash as JSON text. */
  onTransaction(json: string): void;
  /** The node ended a subscription that it had accepted. */
  onLost(): void;
}

class SharedPendingStream {
  private readonly shared: SharedNodeSubscription;
  private readonly malformed: MalformedNotifications;
  private readonly subscriptions = new Set<Subscription>();
  private readonly listeners = new Set<PendingListener>();

  constructor(subscriptions: NodeSubscriptions, params: readonly unknown[], log: Logger) {
    this.malformed = new MalformedNotifications(log, 'transaction');
    this.shared = new SharedNodeSubscription({
      subscriptions,
      params,
      onEvent: (result) => this.publish(result),
      onLost: () => {
        for (const { connection } of this.subscriptions)
          connection.close(...subscriptionEndedByNode('newPendingTransactions'));
        for (const listener of this.listeners) listener.onLost();
      },
    });
  }

  async subscribe(subscription: Subscription): Promise<Unsubscribe> {
    const release = await awaitUpstream(this.shared.acquire().catch(rethrowRefusal));
    this.subscriptions.add(subscription);
    return () => {
      this.subscriptions.delete(subscription);
      release();
    };
  }

  async listen(listener: PendingListener): Promise<() => void> {
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
    for (const listener of this.listeners) listener.onTransaction(json);
    if (this.subscriptions.size === 0) return;
    const notification = new Notification('eth_subscription', json);
    for (const subscription of this.subscriptions) subscription.push(notification);
  }

  private serialize(result: unknown): string | null {
    try {
      return jsonOf(result, 'newPendingTransactions');
    } catch (error) {
      this.malformed.report(error);
      return null;
    }
  }
}

function rethrowRefusal(error: unknown): never {
  if (error instanceof UpstreamError && error.reason === 'rpc' && !isBusy(error)) throw pendingNotOffered();
  throw error;
}

/** The refusal for a node that has no WebSocket or does not announce pending transactions. */
export function pendingNotOffered() {
  return invalidParams('newPendingTransactions is not offered by the node');
}

/** `newPendingTransactions`: hashes, or whole transactions on request, as the node announces them. */
import { UpstreamError } from '../errors.ts';
import type { Logger } from '../log.ts';
import type { NodeFeed } from '../upstream/feed.ts';
import { jsonOf } from '../upstream/reply.ts';
import { subscriptionEndedByNode } from './close-frames.ts';
import { Notification } from './notification.ts';
import { OddAnnouncements } from './odd-announcements.ts';
import type { Unsubscribe } from './session.ts';
import { SharedNodeSubscription } from './shared-node-subscription.ts';
import { awaitUpstream, invalidParams } from './subscribe-errors.ts';
import type { Subscription } from './subscription.ts';

export class PendingTransactionStream {
  private readonly hashes: SharedPendingStream;
  private readonly whole: SharedPendingStream;

  constructor(feed: NodeFeed, log: Logger) {
    this.hashes = new SharedPendingStream(feed, ['newPendingTransactions'], log);
    this.whole = new SharedPendingStream(feed, ['newPendingTransactions', true], log);
  }

  /** `full` is the optional second parameter of the subscribe. */
  subscribe(full: unknown, subscription: Subscription): Promise<Unsubscribe> {
    if (full !== undefined && full !== null && typeof full !== 'boolean') {
      throw invalidParams('the second parameter of newPendingTransactions must be true or false');
    }
    return (full === true ? this.whole : this.hashes).subscribe(subscription);
  }
}

class SharedPendingStream {
  private readonly shared: SharedNodeSubscription;
  private readonly odd: OddAnnouncements;
  private readonly subscriptions = new Set<Subscription>();

  constructor(feed: NodeFeed, params: readonly unknown[], log: Logger) {
    this.odd = new OddAnnouncements(log, 'transaction');
    this.shared = new SharedNodeSubscription({
      feed,
      params,
      onEvent: (result) => this.publish(result),
      onLost: () => {
        for (const { connection } of this.subscriptions)
          connection.close(...subscriptionEndedByNode('newPendingTransactions'));
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

  private publish(result: unknown): void {
    if (this.subscriptions.size === 0) return;
    const json = this.serialize(result);
    if (json === null) return;
    const notification = new Notification('eth_subscription', json);
    for (const subscription of this.subscriptions) subscription.push(notification);
  }

  private serialize(result: unknown): string | null {
    try {
      return jsonOf(result, 'newPendingTransactions');
    } catch (error) {
      this.odd.report(error);
      return null;
    }
  }
}

function rethrowRefusal(error: unknown): never {
  if (error instanceof UpstreamError && error.reason === 'rpc') throw pendingNotOffered();
  throw error;
}

/** The node does not announce pending transactions, or has no WebSocket. */
export function pendingNotOffered() {
  return invalidParams('newPendingTransactions is not offered by the node');
}

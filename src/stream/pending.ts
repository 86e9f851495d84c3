/** `newPendingTransactions`: hashes, or whole transactions on request, as the node announces them. */
import { UpstreamError } from '../errors.ts';
import type { Logger } from '../log.ts';
import type { NodeFeed } from '../upstream/feed.ts';
import { jsonOf } from '../upstream/reply.ts';
import { endedByNode } from './closing.ts';
import { Notice } from './notice.ts';
import { invalidParams, orUnavailable } from './refusals.ts';
import type { End } from './session.ts';
import { SharedFeed } from './shared-feed.ts';
import type { Subscription } from './subscription.ts';

export class Pending {
  private readonly hashes: PendingTopic;
  private readonly whole: PendingTopic;

  constructor(feed: NodeFeed, log: Logger) {
    this.hashes = new PendingTopic(feed, ['newPendingTransactions'], log);
    this.whole = new PendingTopic(feed, ['newPendingTransactions', true], log);
  }

  /** `full` is the optional second parameter of the subscribe. */
  open(full: unknown, subscription: Subscription): Promise<End> {
    if (full !== undefined && full !== null && typeof full !== 'boolean') {
      throw invalidParams('the second parameter of newPendingTransactions must be true or false');
    }
    return (full === true ? this.whole : this.hashes).open(subscription);
  }
}

class PendingTopic {
  private readonly shared: SharedFeed;
  private readonly log: Logger;
  private readonly subscriptions = new Set<Subscription>();

  constructor(feed: NodeFeed, params: readonly unknown[], log: Logger) {
    this.log = log;
    this.shared = new SharedFeed({
      feed,
      params,
      onEvent: (result) => this.tell(result),
      onLost: () => {
        for (const { outlet } of this.subscriptions) outlet.close(...endedByNode('newPendingTransactions'));
      },
    });
  }

  async open(subscription: Subscription): Promise<End> {
    const leave = await orUnavailable(this.shared.join().catch(asRefusal));
    this.subscriptions.add(subscription);
    return () => {
      this.subscriptions.delete(subscription);
      leave();
    };
  }

  private tell(result: unknown): void {
    if (this.subscriptions.size === 0) return;
    const json = this.read(result);
    if (json === null) return;
    const notice = new Notice('eth_subscription', json);
    for (const subscription of this.subscriptions) subscription.push(notice);
  }

  private read(result: unknown): string | null {
    try {
      return jsonOf(result, 'newPendingTransactions');
    } catch (error) {
      if (!(error instanceof UpstreamError)) throw error;
      this.log.warn({ err: error }, 'the node announced something that is no transaction');
      return null;
    }
  }
}

function asRefusal(error: unknown): never {
  if (error instanceof UpstreamError && error.reason === 'rpc') throw notOffered();
  throw error;
}

/** The node does not announce pending transactions, or has no WebSocket. */
export function notOffered() {
  return invalidParams('newPendingTransactions is not offered by the node');
}

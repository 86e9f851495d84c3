/** `newPendingTransactions`: hashes or, on request, whole transactions, as the node announces them. */
import { UpstreamError } from '../../lib/errors.ts';
import type { Logger } from '../../log/logger.ts';
import type { NodeSubscriptions } from '../../node/connection.ts';
import { isBusy } from '../../node/node-errors.ts';
import { invalidParams, notOffered } from '../subscribe-errors.ts';
import type { Subscription, Unsubscribe } from '../subscription.ts';
import { NodeTopicStream } from './node-topic-stream.ts';

const PENDING_TOPIC = 'newPendingTransactions';

export class PendingTransactionStream {
  private readonly hashes: NodeTopicStream;
  private readonly whole: NodeTopicStream;

  constructor(subscriptions: NodeSubscriptions, log: Logger) {
    this.hashes = new NodeTopicStream(subscriptions, [PENDING_TOPIC], 'transaction', log);
    this.whole = new NodeTopicStream(subscriptions, [PENDING_TOPIC, true], 'transaction', log);
  }

  /** `full` is the optional second parameter of eth_subscribe. */
  subscribe(full: unknown, subscription: Subscription): Promise<Unsubscribe> {
    if (full !== undefined && full !== null && typeof full !== 'boolean') {
      throw invalidParams('the second parameter of newPendingTransactions must be true or false');
    }
    return (full === true ? this.whole : this.hashes).subscribe(subscription, rethrowRefusal);
  }

  /** Listens to the hashes of pending transactions, see NodeTopicStream. */
  listen({ onTransaction, onLost }: PendingListener): Promise<() => void> {
    return this.hashes.listen({ onEvent: onTransaction, onLost });
  }
}

/** A listener inside the daemon. */
export interface PendingListener {
  /** `json` is the hash as JSON text. */
  onTransaction: (json: string) => void;
  /** The node ended a subscription that it had accepted. */
  onLost: () => void;
}

function rethrowRefusal(error: unknown): never {
  if (error instanceof UpstreamError && error.reason === 'rpc' && !isBusy(error))
    throw notOffered(PENDING_TOPIC);
  throw error;
}

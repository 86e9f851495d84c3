/** One subscription at the node, shared by all clients: it starts with the first client and ends with the last. */

import { once } from '../../lib/async.ts';
import { UpstreamError } from '../../lib/errors.ts';
import type { NodeSubscriptions } from '../../node/connection.ts';

/** How long a client's eth_subscribe waits for the node's answer, milliseconds. */
const SUBSCRIBE_TIMEOUT_MS = 10_000;

interface SharedNodeSubscriptionOptions {
  subscriptions: NodeSubscriptions;
  /** Parameters of eth_subscribe. */
  params: readonly unknown[];
  onEvent: (result: unknown) => void;
  /** The node accepted the subscription but refuses it after a reconnect. */
  onLost: (error: UpstreamError) => void;
}

/** A subscription at the node. */
interface NodeSubscription {
  active: Promise<void>;
  /** Idempotent. */
  end(): void;
  users: number;
}

export class SharedNodeSubscription {
  private readonly options: SharedNodeSubscriptionOptions;
  /** The subscription to join; null once the node has ended it, although users may still hold it. */
  private current: NodeSubscription | null = null;

  constructor(options: SharedNodeSubscriptionOptions) {
    this.options = options;
  }

  /**
   * Resolves when the node has accepted the subscription, with a function that ends this use. Rejects with
   * UpstreamError: `rpc` when the node refuses the subscription, `timeout` when it does not answer.
   */
  async acquire(): Promise<() => void> {
    this.current ??= this.subscribe();
    const joined = this.current;
    joined.users++;
    try {
      await joined.active;
    } catch (error) {
      this.release(joined);
      throw error;
    }
    return once(() => this.release(joined));
  }

  private release(joined: NodeSubscription): void {
    joined.users--;
    if (joined.users === 0) this.end(joined);
  }

  private end(ended: NodeSubscription): void {
    ended.end();
    if (this.current === ended) this.current = null;
  }

  private subscribe(): NodeSubscription {
    const { subscriptions, params, onEvent, onLost } = this.options;
    const { promise: active, resolve, reject } = Promise.withResolvers<void>();
    let answered = false;
    const timer = setTimeout(() => {
      reject(new UpstreamError('timeout', `eth_subscribe ${String(params[0])}: the node did not answer`));
    }, SUBSCRIBE_TIMEOUT_MS).unref();
    const settle = (): boolean => {
      clearTimeout(timer);
      const first = !answered;
      answered = true;
      return first;
    };
    const onRefused = (error: UpstreamError): void => {
      if (settle()) return reject(error);
      this.end(subscription);
      onLost(error);
    };
    const end = subscriptions.subscribe(params, onEvent, onRefused, () => {
      if (settle()) resolve();
    });
    const subscription: NodeSubscription = {
      active,
      users: 0,
      end() {
        clearTimeout(timer);
        end();
      },
    };
    return subscription;
  }
}

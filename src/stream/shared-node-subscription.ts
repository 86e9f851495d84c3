/** One subscription at the node shared by any number of clients, made for the first and ended with the last. */
import { UpstreamError } from '../errors.ts';
import { once } from '../lib/once.ts';
import type { NodeFeed } from '../upstream/feed.ts';

/** How long a client's subscribe waits for the node's answer, milliseconds. */
const SUBSCRIBE_TIMEOUT_MS = 10_000;

export interface SharedNodeSubscriptionOptions {
  feed: NodeFeed;
  /** Parameters of the eth_subscribe. */
  params: readonly unknown[];
  onEvent: (result: unknown) => void;
  /** The node had accepted the subscription but refuses it after a reconnect. */
  onLost: (error: UpstreamError) => void;
}

/** A subscription at the node. */
interface NodeSubscription {
  active: Promise<void>;
  /** May be called again. */
  end(): void;
  users: number;
}

export class SharedNodeSubscription {
  private readonly options: SharedNodeSubscriptionOptions;
  /** The one that is joined. One that the node has ended is not, though its users may still have to release it. */
  private current: NodeSubscription | null = null;

  constructor(options: SharedNodeSubscriptionOptions) {
    this.options = options;
  }

  /**
   * Resolves when the node has accepted the subscription, with the function that ends the use. Rejects with
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
    const { feed, params, onEvent, onLost } = this.options;
    const { promise: active, resolve, reject } = Promise.withResolvers<void>();
    let answered = false;
    const timer = setTimeout(() => {
      reject(new UpstreamError('timeout', `eth_subscribe ${String(params[0])}: no answer of the node`));
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
    const end = feed.subscribe(params, onEvent, onRefused, () => {
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

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

export class SharedNodeSubscription {
  private readonly options: SharedNodeSubscriptionOptions;
  private refCount = 0;
  private subscription: { active: Promise<void>; end: () => void } | null = null;

  constructor(options: SharedNodeSubscriptionOptions) {
    this.options = options;
  }

  /**
   * Resolves when the node has accepted the subscription, with the function that ends the use. Rejects with
   * UpstreamError: `rpc` when the node refuses the subscription, `timeout` when it does not answer.
   */
  async acquire(): Promise<() => void> {
    this.refCount++;
    this.subscription ??= this.subscribe();
    const { active } = this.subscription;
    try {
      await active;
    } catch (error) {
      this.release();
      throw error;
    }
    return once(() => this.release());
  }

  private release(): void {
    this.refCount--;
    if (this.refCount > 0) return;
    this.subscription?.end();
    this.subscription = null;
  }

  private subscribe(): { active: Promise<void>; end: () => void } {
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
    const end = feed.subscribe(
      params,
      onEvent,
      (error) => (settle() ? reject(error) : onLost(error)),
      () => {
        if (settle()) resolve();
      },
    );
    const stop = () => {
      clearTimeout(timer);
      end();
    };
    return { active, end: stop };
  }
}

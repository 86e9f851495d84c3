/** One subscription at the node shared by any number of clients, made for the first and ended with the last. */
import { UpstreamError } from '../errors.ts';
import type { NodeFeed } from '../upstream/feed.ts';

/** How long a client's subscribe waits for the node's answer, milliseconds. */
const ANSWER_MS = 10_000;

export interface SharedFeedOptions {
  feed: NodeFeed;
  /** Parameters of the eth_subscribe. */
  params: readonly unknown[];
  onEvent: (result: unknown) => void;
  /** The node had accepted the subscription but refuses it after a reconnect. */
  onLost: (error: UpstreamError) => void;
}

export class SharedFeed {
  private readonly options: SharedFeedOptions;
  private users = 0;
  private current: { active: Promise<void>; end: () => void } | null = null;

  constructor(options: SharedFeedOptions) {
    this.options = options;
  }

  /**
   * Resolves when the node has accepted the subscription, with the function that ends the use. Rejects with
   * UpstreamError: `rpc` when the node refuses the subscription, `timeout` when it does not answer.
   */
  async join(): Promise<() => void> {
    this.users++;
    this.current ??= this.begin();
    const { active } = this.current;
    try {
      await active;
    } catch (error) {
      this.leave();
      throw error;
    }
    return () => this.leave();
  }

  private leave(): void {
    this.users--;
    if (this.users > 0) return;
    this.current?.end();
    this.current = null;
  }

  private begin(): { active: Promise<void>; end: () => void } {
    const { feed, params, onEvent, onLost } = this.options;
    const { promise: active, resolve, reject } = Promise.withResolvers<void>();
    let answered = false;
    const timer = setTimeout(() => {
      reject(new UpstreamError('timeout', `eth_subscribe ${String(params[0])}: no answer of the node`));
    }, ANSWER_MS).unref();
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

/**
 * The node's notifications: subscriptions that survive lost connections. The socket carries nothing else, since a slow
 * call would delay the notifications.
 */
import type { UpstreamError } from '../errors.ts';
import { backoffMs } from '../lib/backoff.ts';
import { type Endpoint, parseEndpoint } from './endpoint.ts';
import { FeedSession, type Subscription } from './feed-session.ts';

export interface FeedOptions {
  /** ws or wss; `user:password@` goes to the Authorization header. */
  url: string;
  /**
   * Milliseconds without any message after which the connection counts as dead; default 30,000. After half of it a call
   * checks the node, so that a quiet chain does not cause a reconnect.
   */
  idleTimeoutMs?: number;
  /** Milliseconds to connect, and to answer a subscribe; default 10,000. */
  timeoutMs?: number;
  /** Most bytes of one message, and of notifications buffered while a subscribe reply is awaited; default 16 MiB. */
  maxMessageBytes?: number;
  /** First and longest wait between attempts to connect, in milliseconds; default 100 and 5,000. */
  retryMs?: { first: number; longest: number };
  /**
   * Connected or reconnected, and every subscription answered. Called before the first event of the connection, so that
   * the caller can fetch what it missed meanwhile without a gap before the events.
   */
  onConnected?: () => void;
  /** Called on each connection with the number of the node's chain, where the node tells it. */
  onChainId?: (chainId: number) => void;
  /** The connection was lost or could not be made; the next attempt follows in `retryInMs`. */
  onDisconnected?: (error: UpstreamError, retryInMs: number) => void;
}

export class NodeFeed {
  private readonly options: FeedOptions;
  private readonly endpoint: Endpoint;
  private readonly subscriptions = new Set<Subscription>();
  private session: FeedSession | undefined;
  private retry: NodeJS.Timeout | undefined;
  private failures = 0;
  private closed = false;

  constructor(options: FeedOptions) {
    this.options = options;
    this.endpoint = parseEndpoint(options.url);
  }

  /** Whether the connection is up and delivers events. */
  get connected(): boolean {
    return this.session?.ready ?? false;
  }

  /**
   * Subscribes to `params` of eth_subscribe (`['newHeads']`, `['logs', {...}]`, ...) for as long as the feed lives,
   * and connects if this is the first. `onEvent` gets each `params.result` unchecked, in the node's order over all
   * subscriptions of a connection. `onRefused` is called when the node refuses the subscription, `onActive` when it
   * accepts, before the first event; again after each reconnect. Returns the function that ends the subscription.
   */
  subscribe(
    params: readonly unknown[],
    onEvent: (result: unknown) => void,
    onRefused: (error: UpstreamError) => void,
    onActive: () => void = () => undefined,
  ): () => void {
    const subscription: Subscription = { params, onEvent, onRefused, onActive };
    this.subscriptions.add(subscription);
    if (this.session !== undefined) this.session.add(subscription);
    else if (this.retry === undefined) this.connect();
    return () => {
      if (this.subscriptions.delete(subscription)) this.session?.remove(subscription);
    };
  }

  /** Reconnects. For callers that know of heads that were not announced although the socket is alive. */
  reconnect(why: string): void {
    this.session?.terminate(why);
  }

  /** Ends all subscriptions and the connection. */
  async close(): Promise<void> {
    this.closed = true;
    clearTimeout(this.retry);
    const session = this.session;
    this.session = undefined;
    await session?.close();
  }

  private connect(): void {
    this.retry = undefined;
    if (this.closed) return;
    const { idleTimeoutMs = 30_000, timeoutMs = 10_000, maxMessageBytes = 16 * 2 ** 20 } = this.options;
    const limits = {
      idleTimeoutMs,
      connectTimeoutMs: timeoutMs,
      answerTimeoutMs: timeoutMs,
      maxMessageBytes,
    };
    const events = {
      onChainId: this.options.onChainId,
      onReady: () => this.onReady(),
      onEnd: (error: UpstreamError) => this.onEnd(error),
    };
    this.session = new FeedSession({ endpoint: this.endpoint, ...limits, ...events }, this.subscriptions);
  }

  private onReady(): void {
    this.failures = 0;
    this.options.onConnected?.();
  }

  private onEnd(error: UpstreamError): void {
    this.session = undefined;
    this.failures += 1;
    const { first, longest } = this.options.retryMs ?? { first: 100, longest: 5000 };
    const wait = backoffMs(this.failures, first, longest);
    this.retry = setTimeout(() => this.connect(), wait);
    this.options.onDisconnected?.(error, wait);
  }
}

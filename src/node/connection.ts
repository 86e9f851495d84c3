/**
 * The streams' connection to the node in use: calls over HTTP, and one WebSocket whose subscriptions survive lost
 * connections. It carries nothing else, because a slow call would delay notifications.
 */
import { backoffMs } from '../lib/async.ts';
import { UpstreamError } from '../lib/errors.ts';
import { guarded } from '../lib/guard.ts';
import { RepeatLimit } from '../lib/limits.ts';
import type { Logger } from '../log/logger.ts';
import type { SelectedNode } from './choice/selected-node.ts';
import type { RpcClient } from './client.ts';
import { type Endpoint, parseEndpoint } from './endpoint.ts';
import { type Subscription, SubscriptionSession } from './subscription-session.ts';

export interface NodeSubscriptionsOptions {
  /** ws or wss; `user:password@` goes to the Authorization header. */
  url: string;
  /**
   * Silence after which the connection counts as dead, milliseconds; default 30,000. After half of it, a call probes
   * the node, so that a quiet chain causes no reconnect.
   */
  idleTimeoutMs?: number;
  /** Timeout for connecting and for the answer to a subscribe, milliseconds; default 10,000. */
  timeoutMs?: number;
  /** Most bytes of one message, and of notifications buffered until a subscribe is answered; default 16 MiB. */
  maxMessageBytes?: number;
  /**
   * Shortest and longest backoff between attempts to connect, milliseconds; default 100 and 5,000. A connection that
   * lasts for the longest backoff ends the series of attempts.
   */
  retryMs?: { first: number; longest: number };
  /**
   * The connection is up and every subscription answered. Called before the first event of each connection, so that the
   * caller can fetch what it missed without a gap.
   */
  onConnected?: () => void;
  /** Called on each connection with the node's chain id, if the node answers eth_chainId. */
  onChainId?: (chainId: number) => void;
  /** The connection was lost or could not be established. The next attempt follows in `retryInMs`. */
  onDisconnected?: (error: UpstreamError, retryInMs: number) => void;
}

export class NodeSubscriptions {
  private readonly options: NodeSubscriptionsOptions;
  private endpoint: Endpoint;
  private readonly subscriptions = new Set<Subscription>();
  private session: SubscriptionSession | undefined;
  private retry: NodeJS.Timeout | undefined;
  private failures = 0;
  /** When the connection became ready (performance.now()); null until then. */
  private readySince: number | null = null;
  private closed = false;

  constructor(options: NodeSubscriptionsOptions) {
    this.options = options;
    this.endpoint = parseEndpoint(options.url);
  }

  /** Whether the connection is up and delivers events. */
  get connected(): boolean {
    return this.session?.ready ?? false;
  }

  /**
   * Subscribes to `params` of eth_subscribe (`['newHeads']`, `['logs', {...}]`, ...) until `close`. The first
   * subscription connects. `onEvent` receives each `params.result` unchecked; events of all subscriptions keep the
   * node's order. `onRefused` is called when the node refuses the subscription, `onActive` when it accepts, before the
   * first event; both again after each reconnect. Returns a function that unsubscribes.
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

  /** Reconnects. For a caller that learnt of heads that the node did not announce over a live socket. */
  reconnect(why: string): void {
    this.session?.terminate(why);
  }

  /** Moves all subscriptions to another node at once. */
  moveTo(url: string): void {
    this.endpoint = parseEndpoint(url);
    const session = this.session;
    this.session = undefined;
    void session?.close(); // an unresponsive node delays the close by a second, and nothing depends on it
    clearTimeout(this.retry);
    this.failures = 0;
    this.readySince = null;
    if (session !== undefined || this.retry !== undefined) this.connect();
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
    this.session = new SubscriptionSession(
      { endpoint: this.endpoint, ...limits, ...events },
      this.subscriptions,
    );
  }

  private onReady(): void {
    this.readySince = performance.now();
    this.options.onConnected?.();
  }

  private onEnd(error: UpstreamError): void {
    this.session = undefined;
    const { first, longest } = this.options.retryMs ?? { first: 100, longest: 5000 };
    // A node that accepts every subscription and then sends junk would otherwise be asked ten times a second for ever.
    if (this.readySince !== null && performance.now() - this.readySince >= longest) this.failures = 0;
    this.readySince = null;
    this.failures += 1;
    const wait = backoffMs(this.failures, first, longest);
    this.retry = setTimeout(
      guarded('connect to the node', () => this.connect()),
      wait,
    );
    this.options.onDisconnected?.(error, wait);
  }
}

/**
 * Shortest time between two lines, milliseconds: a node with an unexpected format sends thousands of notifications per
 * second.
 */
const LOG_MS = 60_000;

/** Logs malformed notifications of the node. */
export class MalformedNotifications {
  private readonly log: Pick<Logger, 'warn'>;
  private readonly kind: string;
  private readonly limit = new RepeatLimit(LOG_MS);

  /** `kind` of notification: head, log, transaction. */
  constructor(log: Pick<Logger, 'warn'>, kind: string) {
    this.log = log;
    this.kind = kind;
  }

  /** Logs why a notification is malformed, at most once a minute. Rethrows anything but an UpstreamError. */
  report(error: unknown): void {
    if (!(error instanceof UpstreamError)) throw error;
    if (this.limit.allows(this.kind))
      this.log.warn({ err: error }, `the node sent a malformed ${this.kind} notification`);
  }
}

interface NodeConnectionOptions {
  /** The node's WebSocket URL, empty if it has none. */
  wsUrl: string;
  /** The selection that the connection follows. Either all nodes have a WebSocket, or none has. */
  follows?: SelectedNode;
  client: RpcClient;
  log: Logger;
}

export class NodeConnection {
  readonly client: RpcClient;
  /** Null if the node has no WebSocket. The first subscription connects. */
  readonly subscriptions: NodeSubscriptions | null;
  /** Whether the loss was logged. Logs it once, not for every attempt to reconnect. */
  private isLost = false;
  private readonly listeners = new Set<(connected: boolean) => void>();
  private readonly unfollow: (() => void) | undefined;

  constructor({ wsUrl, follows, client, log }: NodeConnectionOptions) {
    this.client = client;
    this.subscriptions =
      wsUrl === ''
        ? null
        : new NodeSubscriptions({
            url: wsUrl,
            onConnected: () => {
              this.isLost = false;
              this.notifyListeners(true);
            },
            onDisconnected: (error, retryInMs) => {
              if (!this.isLost)
                log.warn({ err: error, retryInMs }, 'lost the WebSocket to the node; reconnecting');
              this.isLost = true;
              this.notifyListeners(false);
            },
          });
    this.unfollow = follows?.onSelect(() => {
      this.subscriptions?.moveTo(follows.current.ws);
      this.notifyListeners(false);
    });
  }

  /**
   * Calls the listener when the WebSocket connects, before its first notification, and when it is lost. Returns a
   * function that unsubscribes.
   */
  onConnectionChange(listener: (connected: boolean) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  async close(): Promise<void> {
    this.listeners.clear();
    this.unfollow?.();
    await this.subscriptions?.close();
    await this.client.close();
  }

  private notifyListeners(connected: boolean): void {
    for (const listener of [...this.listeners]) listener(connected);
  }
}

/** The subscriptions of one connection: subscribes, keeps notifications in order, detects a dead peer. */
import { UpstreamError } from '../lib/errors.ts';
import { guarded } from '../lib/guard.ts';
import { spelledNumber } from '../lib/hex.ts';
import { isObject, previewValue } from '../lib/text.ts';
import type { Endpoint } from './endpoint.ts';
import { answeredId, MAX_DETAIL } from './reply.ts';
import { NodeSocket, type SocketLimits } from './socket.ts';

/** A subscription that outlives connections. */
export interface Subscription {
  /** Parameters of eth_subscribe. */
  readonly params: readonly unknown[];
  readonly onEvent: (result: unknown) => void;
  /** The node refused the subscription, for example as an unknown kind. */
  readonly onRefused: (error: UpstreamError) => void;
  /** The node accepted the subscription. Called before its first event. */
  readonly onActive: () => void;
}

export interface SessionOptions extends SocketLimits {
  endpoint: Endpoint;
  /** Time for the node to answer a subscribe, milliseconds. */
  answerTimeoutMs: number;
  /** Silence after which the peer counts as dead, milliseconds. After half of it, a call probes the node. */
  idleTimeoutMs: number;
  /** Called with the node's chain id, if the node answers eth_chainId. */
  onChainId?: ((chainId: number) => void) | undefined;
  /** The node answered all initial subscriptions. Called before the first event. */
  onReady(): void;
  onEnd(error: UpstreamError): void;
}

type SubscriptionId = string | number;
interface Notification {
  id: SubscriptionId;
  result: unknown;
}

/** Id of calls whose answer is ignored. */
const IGNORED_CALL = 0;
const CHAIN_ID_CALL = 1;

export class SubscriptionSession {
  private readonly options: SessionOptions;
  private readonly socket: NodeSocket;
  private readonly subscriptions: Set<Subscription>;
  private readonly pending = new Map<number, Subscription>();
  private readonly active = new Map<SubscriptionId, Subscription>();
  /** Notifications that arrived while a subscribe was unanswered: they may belong to that subscription. */
  private buffered: Notification[] = [];
  private bufferedBytes = 0;
  private lastCall = CHAIN_ID_CALL;
  private state: 'connecting' | 'subscribing' | 'ready' | 'ended' = 'connecting';
  private idleTimer: NodeJS.Timeout | undefined;
  private replyTimer: NodeJS.Timeout | undefined;
  private probeSent = false;

  constructor(options: SessionOptions, subscriptions: Iterable<Subscription>) {
    this.options = options;
    this.subscriptions = new Set(subscriptions);
    this.socket = new NodeSocket(options.endpoint, options, {
      onOpen: () => this.onOpen(),
      onText: (text) => this.onText(text),
      onEnd: (error) => {
        this.end();
        options.onEnd(error);
      },
    });
  }

  get ready(): boolean {
    return this.state === 'ready';
  }

  add(subscription: Subscription): void {
    this.subscriptions.add(subscription);
    if (this.state === 'subscribing' || this.state === 'ready') this.sendSubscribe(subscription);
  }

  /** Ends a subscription. It receives no more events. */
  remove(subscription: Subscription): void {
    this.subscriptions.delete(subscription);
    for (const [id, active] of this.active) if (active === subscription) this.unsubscribe(id);
  }

  /** Ends the session as if the connection had failed. */
  terminate(why: string): void {
    this.fail('timeout', why);
  }

  async close(): Promise<void> {
    this.end();
    await this.socket.close();
  }

  private onOpen(): void {
    this.state = 'subscribing';
    // setImmediate lets data that arrived while this process was blocked be read first, so that our stall does not
    // count as the peer's silence.
    const onSilence = guarded('silence of the node', () => this.onSilence());
    this.idleTimer = setTimeout(() => setImmediate(onSilence), this.options.idleTimeoutMs / 2);
    if (this.options.onChainId) this.send(CHAIN_ID_CALL, 'eth_chainId', []);
    for (const subscription of this.subscriptions) this.sendSubscribe(subscription);
    this.flushBuffered();
  }

  private sendSubscribe(subscription: Subscription): void {
    this.lastCall += 1;
    this.pending.set(this.lastCall, subscription);
    this.replyTimer ??= setTimeout(
      guarded('silence of the node', () => this.fail('timeout', 'no answer to eth_subscribe')),
      this.options.answerTimeoutMs,
    );
    this.send(this.lastCall, 'eth_subscribe', subscription.params);
  }

  private unsubscribe(id: SubscriptionId): void {
    this.active.delete(id);
    this.send(IGNORED_CALL, 'eth_unsubscribe', [id]);
  }

  private send(id: number, method: string, params: readonly unknown[]): void {
    this.socket.send({ jsonrpc: '2.0', id, method, params });
  }

  private onText(text: string): void {
    this.probeSent = false;
    this.idleTimer?.refresh();
    const message = parseObject(text);
    if (message === undefined) return this.fail('malformed', `not a JSON object: ${text.slice(0, 80)}`);
    const { method, params } = message;
    const id = answeredId(message.id);
    if (method === 'eth_subscription') this.onNotification(params, text.length);
    else if (typeof id === 'number' && this.pending.has(id)) this.onReply(id, message);
    else if (id === CHAIN_ID_CALL) this.onChainIdReply(message);
    else if (id === null) this.fail('malformed', `an answer without an id: ${previewValue(message.error)}`);
  }

  private onChainIdReply({ result }: Record<string, unknown>): void {
    const chainId = spelledNumber(result);
    if (!Number.isNaN(chainId)) this.options.onChainId?.(chainId);
  }

  private onReply(call: number, reply: Record<string, unknown>): void {
    const subscription = this.pending.get(call)!;
    this.pending.delete(call);
    const id = reply.result;
    if (isObject(reply.error)) this.refuse(subscription, reply.error);
    else if (typeof id !== 'string' && typeof id !== 'number') {
      return this.fail('malformed', `eth_subscribe: the id is ${previewValue(id)}`);
    } else if (this.active.has(id)) {
      return this.fail(
        'malformed',
        `eth_subscribe: the id ${previewValue(id)} belongs to another subscription`,
      );
    } else if (this.subscriptions.has(subscription)) {
      this.active.set(id, subscription);
      subscription.onActive();
    } else this.unsubscribe(id);
    this.flushBuffered();
  }

  private refuse(subscription: Subscription, error: Record<string, unknown>): void {
    const code = typeof error.code === 'number' ? error.code : undefined;
    const reason = typeof error.message === 'string' ? error.message : previewValue(error);
    const message = `eth_subscribe ${previewValue(subscription.params[0])}: ${reason.slice(0, MAX_DETAIL)}`;
    if (!this.subscriptions.has(subscription)) return;
    subscription.onRefused(new UpstreamError('rpc', message, code, { answer: error }));
  }

  private onNotification(params: unknown, bytes: number): void {
    const id = isObject(params) ? params.subscription : undefined;
    if (!isObject(params) || (typeof id !== 'string' && typeof id !== 'number')) {
      return this.fail('malformed', `eth_subscription: the params are ${previewValue(params)}`);
    }
    const notification = { id, result: params.result };
    if (this.pending.size === 0) return this.deliver(notification);
    this.buffered.push(notification);
    this.bufferedBytes += bytes;
    if (this.bufferedBytes > this.options.maxMessageBytes) {
      this.fail('malformed', `eth_subscribe: no reply in ${this.bufferedBytes} bytes of notifications`);
    }
  }

  /** Delivers the buffered notifications in order once every subscribe is answered. */
  private flushBuffered(): void {
    if (this.pending.size > 0) return;
    clearTimeout(this.replyTimer);
    this.replyTimer = undefined;
    if (this.state === 'subscribing') {
      this.state = 'ready';
      this.options.onReady();
    }
    while (this.pending.size === 0 && this.buffered.length > 0) {
      const notifications = this.buffered;
      this.buffered = [];
      this.bufferedBytes = 0;
      for (const notification of notifications) this.deliver(notification);
    }
  }

  private deliver({ id, result }: Notification): void {
    this.active.get(id)?.onEvent(result);
  }

  private onSilence(): void {
    if (this.state === 'ended') return;
    if (this.probeSent) return this.fail('timeout', `no message for ${this.options.idleTimeoutMs} ms`);
    this.probeSent = true;
    this.send(IGNORED_CALL, 'eth_chainId', []);
    this.idleTimer?.refresh();
  }

  private fail(reason: 'malformed' | 'timeout', detail: string): void {
    this.socket.fail(new UpstreamError(reason, `WebSocket to ${this.options.endpoint.origin}: ${detail}`));
  }

  private end(): void {
    this.state = 'ended';
    clearTimeout(this.idleTimer);
    clearTimeout(this.replyTimer);
    this.active.clear();
    this.buffered = [];
  }
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

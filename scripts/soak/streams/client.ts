/**
 * One socket of the soak test: subscribes, unsubscribes, disconnects, reconnects. Its checks receive the notifications.
 */
import { once } from 'node:events';
import { WebSocket } from 'ws';
import type { Check } from './checks.ts';

/** A finished subscription, to be compared with the expected state at the end. */
export interface EndedSubscription {
  check: Check;
  /** The block up to which everything must have been notified by its end. */
  head: number;
}

/** Shortest lifetime after which a subscription must have received everything up to its end, milliseconds. */
const MIN_LIFETIME_MS = 20_000;

interface LiveSubscription {
  check: Check;
  since: number;
}

interface Message {
  id?: number;
  result?: unknown;
  error?: { code: number; message: string };
  params?: { subscription: string; result: unknown };
}

export class SoakClient {
  readonly subscriptions = new Map<string, LiveSubscription>();
  private readonly url: string;
  private readonly expectedHead: () => number;
  private readonly onEnded: (ended: EndedSubscription) => void;
  private readonly onFault: (fault: string) => void;
  private readonly answers = new Map<number, (message: Message) => void>();
  private socket: WebSocket | null = null;
  private lastId = 0;
  events = 0;

  constructor(options: {
    url: string;
    expectedHead: () => number;
    onEnded: (ended: EndedSubscription) => void;
    onFault: (fault: string) => void;
  }) {
    this.url = options.url;
    this.expectedHead = options.expectedHead;
    this.onEnded = options.onEnded;
    this.onFault = options.onFault;
  }

  get isOpen(): boolean {
    return this.socket?.readyState === WebSocket.OPEN;
  }

  async open(): Promise<void> {
    const socket = new WebSocket(this.url);
    this.socket = socket;
    socket.on('message', (data) => this.onMessage(JSON.parse(String(data))));
    socket.on('error', () => undefined);
    socket.on('close', (code, reason) => {
      if (code !== 1005 && code !== 1006) this.onFault(`the server closed a connection: ${code} ${reason}`);
      this.endAll();
    });
    await once(socket, 'open');
  }

  /** Disconnects with a close message, or by cutting the connection. */
  async disconnect(politely: boolean): Promise<void> {
    const { socket } = this;
    if (socket === null) return;
    const closed = once(socket, 'close');
    if (politely) socket.close();
    else socket.terminate();
    await closed;
  }

  /** Subscribes. `checkFor` creates the check as soon as the answer arrives. */
  async subscribe(method: string, params: unknown, checkFor: () => Check): Promise<void> {
    const { result, error } = await this.call(method, params, ({ result }) => {
      if (typeof result === 'string')
        this.subscriptions.set(result, { check: checkFor(), since: Date.now() });
    });
    // While the connection to the node is cut, the first head is unpredictable.
    const expected = error?.message.startsWith('upstream');
    if (result === undefined && error !== undefined && !expected)
      this.onFault(`refused: ${JSON.stringify(error)}`);
  }

  async unsubscribe(method: string, id: string): Promise<void> {
    await this.call(method, [id], () => this.end(id));
  }

  private call(method: string, params: unknown, onAnswer: (message: Message) => void): Promise<Message> {
    const id = ++this.lastId;
    return new Promise((resolve) => {
      this.answers.set(id, (message) => {
        onAnswer(message);
        resolve(message);
      });
      if (this.isOpen) this.socket?.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
      else resolve({});
    });
  }

  private onMessage(message: Message): void {
    if (message.params !== undefined) {
      this.events++;
      const subscription = this.subscriptions.get(message.params.subscription);
      if (subscription === undefined) this.onFault('a notification for no subscription');
      else subscription.check.onNotification(message.params.result);
    } else if (message.id !== undefined) {
      this.answers.get(message.id)?.(message);
      this.answers.delete(message.id);
    }
  }

  private end(id: string): void {
    const live = this.subscriptions.get(id);
    this.subscriptions.delete(id);
    if (live !== undefined && Date.now() - live.since > MIN_LIFETIME_MS) {
      this.onEnded({ check: live.check, head: this.expectedHead() });
    }
  }

  endAll(): void {
    for (const id of [...this.subscriptions.keys()]) this.end(id);
    for (const answer of this.answers.values()) answer({});
    this.answers.clear();
  }
}

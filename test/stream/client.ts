/** A WebSocket client of the service for tests: calls, subscriptions, and what was received in its order. */
import { once } from 'node:events';
import { WebSocket } from 'ws';
import { waitFor } from '../support/wait.ts';

export interface Owner {
  after(close: () => void | Promise<void>): void;
}

/** An owner for all that a test opens: it closes the latest first. */
export function opened(t: Owner): Owner {
  const closers: (() => void | Promise<void>)[] = [];
  t.after(async () => {
    for (const close of closers.reverse()) await close();
  });
  return { after: (close) => closers.push(close) };
}

/** The error of an answer. */
export class CallError extends Error {
  readonly code: number;
  readonly data: unknown;
  constructor({ code, message, data }: { code: number; message: string; data?: unknown }) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/** What a subscription received, in order. */
export interface Received<T> {
  id: string;
  results: T[];
}

type Json = Record<string, unknown>;

export class StreamClient {
  readonly socket: WebSocket;
  /** Every message as text, in order. */
  readonly texts: string[] = [];
  /** Resolves when the connection is closed. */
  readonly closed: Promise<{ code: number; reason: string }>;
  private readonly answers = new Map<number, (answer: Json) => void>();
  private readonly received = new Map<string, unknown[]>();
  private lastId = 0;

  constructor(socket: WebSocket) {
    this.socket = socket;
    this.closed = new Promise((resolve) => {
      socket.on('close', (code, reason) => resolve({ code, reason: String(reason) }));
    });
    socket.on('error', () => undefined);
    socket.on('message', (data) => this.onMessage(String(data)));
  }

  /** Connects with the key in the header. Rejects when the upgrade is refused. */
  static async open(owner: Owner, url: string, key: string, path = '/ws'): Promise<StreamClient> {
    const socket = new WebSocket(url.replace('http', 'ws') + path, { headers: { 'X-API-Key': key } });
    owner.after(() => socket.terminate());
    const client = new StreamClient(socket);
    await once(socket, 'open');
    return client;
  }

  /** The result of a call; rejects with CallError. */
  async call<T = unknown>(method: string, ...params: unknown[]): Promise<T> {
    return this.callWith<T>(method, params);
  }

  /** The same with any `params`. */
  async callWith<T = unknown>(method: string, params: unknown): Promise<T> {
    const id = ++this.lastId;
    const answer = new Promise<Json>((resolve) => this.answers.set(id, resolve));
    this.socket.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
    const { result, error } = (await answer) as { result: T; error?: { code: number; message: string } };
    if (error !== undefined) throw new CallError(error);
    return result;
  }

  subscribe<T>(...params: unknown[]): Promise<Received<T>> {
    return this.begin('eth_subscribe', params);
  }

  /** Subscribes to signals. */
  signals<T>(filter: unknown): Promise<Received<T>> {
    return this.begin('atlas_subscribe', filter);
  }

  private async begin<T>(method: string, params: unknown): Promise<Received<T>> {
    const id = await this.callWith<string>(method, params);
    return { id, results: this.resultsOf(id) as T[] };
  }

  /** Resolves with the texts received, as soon as there are `count` of them. */
  async messages(count: number): Promise<string[]> {
    await waitFor(() => this.texts.length >= count, { what: `${count} messages; got ${this.texts.join()}` });
    return this.texts;
  }

  private resultsOf(id: string): unknown[] {
    let results = this.received.get(id);
    if (results === undefined) {
      results = [];
      this.received.set(id, results);
    }
    return results;
  }

  private onMessage(text: string): void {
    this.texts.push(text);
    let message: Json;
    try {
      message = JSON.parse(text);
    } catch {
      return;
    }
    const { params } = message as { params?: { subscription: string; result: unknown } };
    if (params === undefined) {
      for (const answer of [message].flat()) this.onAnswer(answer);
      return;
    }
    const results = this.received.get(params.subscription);
    if (results === undefined) throw new Error('a notification came before its reply');
    results.push(params.result);
  }

  private onAnswer(answer: Json): void {
    const { id, result } = answer;
    if (typeof result === 'string') this.resultsOf(result);
    if (typeof id !== 'number') return;
    this.answers.get(id)?.(answer);
    this.answers.delete(id);
  }
}

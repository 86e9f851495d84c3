/**
 * A WebSocket client for tests: calls, subscriptions, and everything received in order, checked against the
 * documentation.
 */
import { once } from 'node:events';
import { WebSocket } from 'ws';
import { isObject } from '../../src/lib/text.ts';
import type { Cleanup } from '../support/cleanup.ts';
import { checkNotification } from '../support/clients/openapi.ts';
import { WAIT_TIMEOUT_MS, waitFor } from '../support/wait.ts';

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
  /** Every answer as text, in order. Excludes notifications, which arrive with every block. */
  readonly answerTexts: string[] = [];
  private end: { code: number; reason: string } | undefined;
  private readonly answers = new Map<number, PromiseWithResolvers<Json>>();
  private readonly received = new Map<string, unknown[]>();
  private lastId = 0;

  constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on('close', (code, reason) => this.onClose(code, String(reason)));
    socket.on('error', () => undefined);
    socket.on('message', (data) => this.onMessage(String(data)));
  }

  /** Connects with the key in the header. Rejects when the upgrade is refused. */
  static async open(cleanup: Cleanup, url: string, key: string, path = '/ws'): Promise<StreamClient> {
    const options = { headers: { 'X-API-Key': key }, handshakeTimeout: WAIT_TIMEOUT_MS };
    const socket = new WebSocket(url.replace('http', 'ws') + path, options);
    cleanup.after(() => socket.terminate());
    const client = new StreamClient(socket);
    await once(socket, 'open');
    return client;
  }

  /** Resolves when the connection is closed. */
  async closed(): Promise<{ code: number; reason: string }> {
    return waitFor(() => this.end, {
      what: 'the connection to be closed',
      everyMs: 5,
    });
  }

  /** The result of a call; rejects with CallError. */
  async call<T = unknown>(method: string, ...params: unknown[]): Promise<T> {
    return this.callWith<T>(method, params);
  }

  /** The same with any `params`. */
  async callWith<T = unknown>(method: string, params: unknown): Promise<T> {
    const id = ++this.lastId;
    const answer = Promise.withResolvers<Json>();
    this.answers.set(id, answer);
    const timer = setTimeout(() => answer.reject(new Error(`${method} was not answered`)), WAIT_TIMEOUT_MS);
    if (this.end === undefined) this.socket.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
    else answer.reject(new Error(`${method}: the connection is closed`));
    const { result, error } = (await answer.promise.finally(() => clearTimeout(timer))) as {
      result: T;
      error?: { code: number; message: string };
    };
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

  /** Resolves with the text of the answer at `index`, from 0. */
  async answerAt(index: number): Promise<string> {
    return waitFor(() => this.answerTexts[index], {
      what: `${index + 1} answers; got ${this.answerTexts.join()}`,
    });
  }

  /** Everything the subscription has received; the list grows. */
  resultsOf(id: string): unknown[] {
    let results = this.received.get(id);
    if (results === undefined) {
      results = [];
      this.received.set(id, results);
    }
    return results;
  }

  private onClose(code: number, reason: string): void {
    this.end = { code, reason };
    for (const answer of this.answers.values())
      answer.reject(new Error(`the connection was closed with ${code} ${reason}`));
  }

  private onMessage(text: string): void {
    const message = JSON.parse(text) as Json;
    const { params } = message as { params?: { subscription: string; result: unknown } };
    if (params === undefined) {
      this.answerTexts.push(text);
      for (const answer of [message].flat()) this.onAnswer(answer);
      return;
    }
    const results = this.received.get(params.subscription);
    if (results === undefined) throw new Error('a notification came before its reply');
    // Blocks and logs are forwarded from a node, which most tests simulate.
    if (isObject(params.result) && 'eventIndex' in params.result) checkNotification(message);
    results.push(params.result);
  }

  private onAnswer(answer: Json): void {
    const { id, result } = answer;
    if (typeof result === 'string') this.resultsOf(result);
    if (typeof id !== 'number') return;
    this.answers.get(id)?.resolve(answer);
    this.answers.delete(id);
  }
}

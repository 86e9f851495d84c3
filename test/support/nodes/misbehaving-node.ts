/**
 * A chain node that fails in every way in which a real node, or anything in front of it, has been seen to fail. It
 * answers from a function or forwards calls to a real node, over HTTP and WebSocket, and corrupts answers on demand.
 */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket, WebSocketServer } from 'ws';
import { freePort } from '../free-port.ts';
import {
  type BatchOrder,
  type Call,
  limited,
  type NodeCall,
  type Refusal,
  type Reply,
  refusal,
  reordered,
  send,
  TOO_LARGE,
  type Wire,
} from './corrupt-responses.ts';
import { cut } from './cut.ts';

export type { BatchOrder, NodeCall, Refusal, Wire } from './corrupt-responses.ts';

/** Thrown by `answer` or `replace` to return an error object. */
export class NodeError extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

export interface Faults {
  /** Delay of each answer, milliseconds. */
  delayMs: number;
  wire: Wire | null;
  order: BatchOrder | null;
  /** Most calls per batch. A larger batch is refused. */
  maxBatch: number;
  refuseAs: Refusal;
  /** Most bytes per answer. Above, everything is refused (Monad) or the calls after the limit are (geth). */
  maxBytes: number;
  tooLargeAs: 'object' | 'rest';
  /** Methods answered with null. */
  nullFor: readonly string[];
  /** Methods answered with an error. */
  errorFor: Readonly<Record<string, { code: number; message: string }>>;
  /** Changes outgoing results. */
  replace: (method: string, params: readonly unknown[], result: unknown) => unknown;
  /** Corrupts only requests that contain such a call. */
  when: (call: NodeCall) => boolean;
  /** Behaves again after this many corrupted HTTP requests. */
  times: number;
  /** Every id is answered as a text, and an error of null stands beside every result. */
  loose: boolean;
  /** Only WebSocket, without upstream: the form of subscription ids, and notifications sent before the reply. */
  numericIds: boolean;
  sameIds: boolean;
  earlyEvents: readonly unknown[];
  /** WebSocket only: stops reading and answering while the connection stays open. */
  deaf: boolean;
  /** WebSocket only, with upstream: changes the node's messages on their way to the client. */
  relay: (text: string) => readonly string[];
}

const GOOD: Faults = {
  delayMs: 0,
  wire: null,
  order: null,
  maxBatch: Number.POSITIVE_INFINITY,
  refuseAs: 'object',
  maxBytes: Number.POSITIVE_INFINITY,
  tooLargeAs: 'object',
  nullFor: [],
  errorFor: {},
  replace: (_method, _params, result) => result,
  when: () => true,
  times: Number.POSITIVE_INFINITY,
  loose: false,
  numericIds: false,
  sameIds: false,
  earlyEvents: [],
  deaf: false,
  relay: (text) => [text],
};

interface NodeOptions {
  /** Address of a real node, whose WebSocket must be on the same port. */
  upstream?: string;
  /**
   * Without upstream: returns each result (or a promise of it), or throws a NodeError. Default: every result is null.
   */
  answer?: (method: string, params: unknown[]) => unknown;
}

/** A received HTTP request. */
interface NodeRequest {
  calls: readonly NodeCall[];
  batch: boolean;
  headers: IncomingHttpHeaders;
  path: string;
}

export async function startMisbehavingNode(options: NodeOptions = {}): Promise<MisbehavingNode> {
  const node = new MisbehavingNode(options);
  await node.listen();
  return node;
}

export class MisbehavingNode {
  /** Every HTTP request so far. */
  readonly requests: NodeRequest[] = [];
  /** Every WebSocket that was opened so far. */
  readonly upgrades: Pick<NodeRequest, 'headers' | 'path'>[] = [];
  readonly #options: NodeOptions;
  readonly #http = createServer((request, response) => void this.#serve(request, response));
  readonly #ws = new WebSocketServer({ server: this.#http });
  readonly #tcp = new Set<Socket>();
  /** WebSocket subscriptions by id, without upstream. */
  readonly #subscriptions = new Map<string | number, { socket: WebSocket; kind: unknown }>();
  #port: number | undefined;
  #faults = GOOD;
  #corrupted = 0;
  #nextId = 1;

  constructor(options: NodeOptions) {
    this.#options = options;
    this.#http.on('connection', (socket: Socket) => {
      this.#tcp.add(socket);
      socket.on('close', () => this.#tcp.delete(socket));
    });
    this.#ws.on('connection', (socket, { headers, url: path = '' }) => {
      this.upgrades.push({ headers, path });
      this.#attend(socket);
    });
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#http.address() as AddressInfo).port}`;
  }

  get wsUrl(): string {
    return this.url.replace('http', 'ws');
  }

  /** Open connections, HTTP and WebSocket. */
  get connections(): number {
    return this.#tcp.size;
  }

  /** Open subscriptions, without upstream. */
  get subscriptions(): number {
    return this.#subscriptions.size;
  }

  /** Sets the faults from now on; `misbehave({})` makes it a good node again. */
  misbehave(faults: Partial<Faults>): void {
    this.#faults = { ...GOOD, ...faults };
    this.#corrupted = 0;
  }

  /** Sends a notification to every subscription of the kind (`newHeads`, ...). */
  publish(kind: string, result: unknown): void {
    this.publishText(kind, JSON.stringify(result));
  }

  /** Like the above, with the result as JSON text, which may be impossible to create here. */
  publishText(kind: string, json: string): void {
    for (const [id, { kind: subscribed, socket }] of this.#subscriptions) {
      if (subscribed === kind) notify(socket, id, json);
    }
  }

  /** Sends a raw text to every WebSocket. */
  say(text: string | Buffer): void {
    for (const socket of this.#ws.clients) socket.send(text);
  }

  /** Cuts every connection. */
  drop(): void {
    for (const socket of this.#tcp) cut(socket);
  }

  /** Listens; after `close`, on the same port as before. */
  async listen(): Promise<void> {
    this.#port ??= await freePort();
    this.#http.listen(this.#port, '127.0.0.1');
    await once(this.#http, 'listening');
  }

  /** Stops listening and cuts every connection; `listen` may follow. */
  async close(): Promise<void> {
    if (!this.#http.listening) return;
    const closed = once(this.#http, 'close');
    this.#http.close();
    this.drop();
    await closed;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // This server tolerates clients that give up half-way.
    const chunks = await request.toArray().catch(() => null);
    if (chunks === null) return;
    const parsed: Call | Call[] = JSON.parse(Buffer.concat(chunks).toString());
    const calls = [parsed].flat();
    const { headers, url: path = '' } = request;
    this.requests.push({ calls, batch: Array.isArray(parsed), headers, path });
    const faults = this.#faultsFor(calls);
    if (faults.delayMs > 0) await sleep(faults.delayMs);
    const { status, body } = await this.#answer(parsed, faults).catch(badGateway);
    send(response, status, body, faults.wire);
  }

  #faultsFor(calls: readonly Call[]): Faults {
    if (this.#corrupted >= this.#faults.times || !calls.some(this.#faults.when)) return GOOD;
    this.#corrupted += 1;
    return this.#faults;
  }

  async #answer(parsed: Call | Call[], faults: Faults): Promise<{ status: number; body: string }> {
    if (!Array.isArray(parsed)) {
      const body = JSON.stringify(await this.#reply(parsed, faults));
      return { status: 200, body: body.length > faults.maxBytes ? TOO_LARGE : body };
    }
    if (parsed.length > faults.maxBatch) return refusal(parsed, faults.refuseAs);
    const replies = await Promise.all(parsed.map((call) => this.#reply(call, faults)));
    return {
      status: 200,
      body: limited(replies, parsed, faults) ?? JSON.stringify(reordered(replies, faults.order)),
    };
  }

  async #reply(call: Call, faults: Faults): Promise<Reply> {
    const reply = await this.#strictReply(call, faults);
    return faults.loose ? loosened(reply) : reply;
  }

  async #strictReply(call: Call, faults: Faults): Promise<Reply> {
    const { id, method, params } = call;
    if (faults.errorFor[method] !== undefined) return { jsonrpc: '2.0', id, error: faults.errorFor[method] };
    if (faults.nullFor.includes(method)) return { jsonrpc: '2.0', id, result: null };
    const reply = await this.#goodReply(call);
    if (reply.error !== undefined) return reply;
    return orError(id, () => faults.replace(method, params, reply.result));
  }

  async #goodReply(call: Call): Promise<Reply> {
    const { id, method, params } = call;
    if (this.#options.upstream !== undefined) {
      const headers = { 'content-type': 'application/json' };
      const answer = await fetch(this.#options.upstream, {
        method: 'POST',
        headers,
        body: JSON.stringify(call),
      });
      return (await answer.json()) as Reply;
    }
    return orError(id, async () => (await this.#options.answer?.(method, params)) ?? null);
  }

  #attend(socket: WebSocket): void {
    socket.on('error', () => undefined);
    if (this.#options.upstream !== undefined) return this.#pipe(socket, this.#options.upstream);
    socket.on('message', (data) => {
      if (!this.#faults.deaf) void this.#onCall(socket, JSON.parse(String(data)));
    });
    socket.on('close', () => {
      for (const [id, subscription] of this.#subscriptions) {
        if (subscription.socket === socket) this.#subscriptions.delete(id);
      }
    });
  }

  /** Forwards messages both ways. Closing either end closes the other. */
  #pipe(socket: WebSocket, upstream: string): void {
    const target = new WebSocket(upstream.replace(/^http/, 'ws'));
    const opened = once(target, 'open');
    opened.catch(() => socket.terminate());
    target.on('error', () => socket.terminate());
    socket.on('message', (data) => {
      opened.then(
        () => target.send(String(data)),
        () => socket.terminate(),
      );
    });
    target.on('message', (data) => {
      if (this.#faults.deaf) return;
      for (const text of this.#faults.relay(String(data))) socket.send(text);
    });
    socket.on('close', () => target.terminate());
    target.on('close', () => socket.terminate());
  }

  async #onCall(socket: WebSocket, call: Call): Promise<void> {
    const faults = this.#faults;
    if (faults.delayMs > 0) await sleep(faults.delayMs);
    if (call.method === 'eth_unsubscribe') {
      const known = this.#subscriptions.delete(call.params[0] as string | number);
      sendReply(socket, { jsonrpc: '2.0', id: call.id, result: known }, faults);
    } else if (call.method === 'eth_subscribe' && faults.errorFor.eth_subscribe === undefined) {
      this.#subscribe(socket, call, faults);
    } else {
      socket.send(JSON.stringify(await this.#reply(call, faults)));
    }
  }

  #subscribe(socket: WebSocket, call: Call, faults: Faults): void {
    const number = faults.sameIds ? 0 : this.#nextId++;
    const id = faults.numericIds ? number : `0x${number.toString(16).padStart(32, '0')}`;
    this.#subscriptions.set(id, { socket, kind: call.params[0] });
    for (const event of faults.earlyEvents) notify(socket, id, JSON.stringify(event));
    sendReply(socket, { jsonrpc: '2.0', id: call.id, result: id }, faults);
  }
}

function loosened({ id, ...reply }: Reply): Reply {
  return { ...reply, ...('result' in reply && { error: null }), id: String(id) };
}

function sendReply(socket: WebSocket, reply: Reply, { loose }: Faults): void {
  socket.send(JSON.stringify(loose ? loosened(reply) : reply));
}

/** `fetch` fails with a TypeError when the upstream is gone. */
function badGateway(error: unknown): { status: number; body: string } {
  if (error instanceof TypeError && error.message === 'fetch failed')
    return { status: 502, body: 'bad gateway' };
  throw error;
}

function notify(socket: WebSocket, subscription: string | number, result: string): void {
  const params = `{"subscription":${JSON.stringify(subscription)},"result":${result}}`;
  socket.send(`{"jsonrpc":"2.0","method":"eth_subscription","params":${params}}`);
}

async function orError(id: Call['id'], result: () => unknown): Promise<Reply> {
  try {
    return { jsonrpc: '2.0', id, result: await result() };
  } catch (error) {
    if (!(error instanceof NodeError)) throw error;
    return { jsonrpc: '2.0', id, error: { code: error.code, message: error.message } };
  }
}

/**
 * HTTP to the node in use with streamed answers, over its own keep-alive sockets, with bounded resources: one client
 * per configured node.
 */
import type { UpstreamFailure } from '../../lib/errors.ts';
import { guarded } from '../../lib/guard.ts';
import type { SelectedNode } from '../choice/selected-node.ts';
import { type Endpoint, parseEndpoint } from '../endpoint.ts';
import { requestHeaders } from '../request-headers.ts';
import { Connection, type ConnectionOwner, type Target } from './connection.ts';
import { type Clock, Exchange } from './exchange.ts';
import { FairQueue } from './fair-queue.ts';
import type { ResponseConsumer } from './response-reader.ts';

export type { Exchange } from './exchange.ts';
export type { ResponseHead } from './response-head.ts';
export type { ResponseConsumer } from './response-reader.ts';

export interface StreamingHttpOptions {
  /** http or https; `user:password@` goes to the Authorization header. */
  url: string;
  /**
   * Time from sending a request to the end of its answer, milliseconds. A queued request fails when the node makes no
   * progress on the requests before it for that long.
   */
  timeoutMs: number;
  /** Most sockets, and so most requests in flight. */
  maxSockets: number;
  /** Most queued requests, and their bytes. Further requests fail at once. */
  maxWaiting: number;
  maxWaitingBytes: number;
}

export interface PostOptions {
  /** Use a new socket: the node may close a used one while the request is in flight. */
  newSocket?: boolean;
  /** The client, for turns and a fair share of the sockets. Null: no share limit. */
  client?: number | null;
  /** The request has an effect. Abandoning the node does not fail it, because the node may have executed it. */
  isWrite?: boolean;
}

/** Interval of sweeps for overdue exchanges and idle sockets, milliseconds. */
const SWEEP_MS = 100;
/** Most that the clock advances between two sweeps, milliseconds. */
const MOST_PER_SWEEP_MS = 2 * SWEEP_MS;
/**
 * Idle time before a socket is closed, milliseconds: shorter than that of servers, some of which close after five
 * seconds.
 */
const IDLE_MS = 4_000;

export class StreamingHttpClient implements ConnectionOwner {
  /** The endpoint without secrets, for messages. */
  readonly origin: string;
  private readonly options: StreamingHttpOptions;
  private readonly target: Target;
  /** The request head up to the value of Content-Length. */
  private readonly head: string;
  private readonly open = new Set<Connection>();
  /** Free connections. The most recently used one is taken first, so that surplus ones stay idle and close. */
  private readonly idle: Connection[] = [];
  private readonly queue: FairQueue;
  private readonly sweep: NodeJS.Timeout;
  /** Advances by a limited amount per sweep, so that a stall of this process does not count against the node. */
  private readonly clock: Clock = { now: 0 };
  private sweptAt = performance.now();
  private closed = false;

  constructor(options: StreamingHttpOptions) {
    const endpoint = parseEndpoint(options.url);
    this.options = options;
    this.origin = endpoint.origin;
    this.target = targetOf(endpoint);
    this.head = requestHead(endpoint);
    const { maxSockets: maxRunning, maxWaiting, maxWaitingBytes } = options;
    this.queue = new FairQueue({ maxRunning, maxWaiting, maxWaitingBytes });
    this.sweep = setInterval(
      guarded('time limits of calls to the node', () => this.onSweep()),
      SWEEP_MS,
    ).unref();
  }

  /**
   * Posts a JSON body, given as the Latin-1 text of its bytes. After this returns, the consumer gets the answer,
   * whatever its status, or aborts with an UpstreamError (`timeout`, `connection`, `malformed`, `queue-full`; `what`
   * names the request in its message).
   */
  post(body: string, what: string, consumer: ResponseConsumer, options: PostOptions = {}): Exchange {
    const { newSocket = false, client = null, isWrite = false } = options;
    const request = `${this.head}${body.length}\r\n\r\n${body}`;
    const exchange = new Exchange(request, consumer, {
      what,
      newSocket,
      isWrite,
      flow: this.queue.flow(client),
      timeoutMs: this.options.timeoutMs,
      clock: this.clock,
      onEnd: this.onExchangeEnd,
    });
    if (this.closed) {
      failSoon(exchange, 'connection', `the connection to ${this.origin} is closed`);
      return exchange;
    }
    const verdict = this.queue.admit(exchange);
    if (verdict === 'runs') this.start(exchange);
    else if (verdict === 'refused') {
      failSoon(exchange, 'queue-full', `${this.queue.waiting} requests already wait for ${this.origin}`);
    }
    return exchange;
  }

  /** Fails all requests, queued or in flight, and closes the sockets. */
  close(): void {
    this.closed = true;
    clearInterval(this.sweep);
    for (const exchange of [...this.queue]) {
      exchange.fail('connection', `the connection to ${this.origin} is closed`);
    }
    for (const connection of [...this.open]) connection.destroy();
  }

  /** The node is no longer in use: fails the requests in flight or queued, except writes already sent. */
  abandon(): void {
    for (const exchange of [...this.queue]) {
      if (exchange.isWrite && exchange.wasSent) continue;
      exchange.fail('connection', `switched from ${this.origin} to another node`);
    }
    for (const connection of [...this.idle]) connection.destroy();
  }

  onFree(connection: Connection): void {
    connection.idleSince = this.clock.now;
    this.idle.push(connection);
  }

  onGone(connection: Connection): void {
    this.open.delete(connection);
    const at = this.idle.indexOf(connection);
    if (at >= 0) this.idle.splice(at, 1);
  }

  /** Starts an admitted exchange: a socket is idle, or another one may open. */
  private start(exchange: Exchange): void {
    exchange.start(this.acquireConnection(exchange.newSocket));
  }

  private acquireConnection(newSocket: boolean): Connection {
    const hasRoom = this.open.size < this.options.maxSockets;
    const idle = newSocket && hasRoom ? undefined : this.idle.pop();
    if (idle !== undefined && !newSocket) return idle;
    idle?.destroy();
    const connection = new Connection(this.target, this);
    this.open.add(connection);
    return connection;
  }

  private readonly onExchangeEnd = (exchange: Exchange): void => {
    const next = this.queue.remove(exchange);
    if (next !== null) this.start(next);
  };

  private onSweep(): void {
    const now = performance.now();
    this.clock.now += Math.min(now - this.sweptAt, MOST_PER_SWEEP_MS);
    this.sweptAt = now;
    for (const exchange of this.queue) exchange.checkTimeout();
    const idleTooLong = this.clock.now - IDLE_MS;
    while (this.idle[0] !== undefined && this.idle[0].idleSince < idleTooLong) this.idle[0].destroy();
  }
}

function failSoon(exchange: Exchange, reason: UpstreamFailure, detail: string): void {
  const fail = guarded('refused call to the node', () => exchange.fail(reason, detail));
  process.nextTick(fail);
}

function targetOf({ origin }: Endpoint): Target {
  const { protocol, hostname, port } = new URL(origin);
  const tls = protocol === 'https:';
  return {
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? (tls ? 443 : 80) : Number(port),
    tls,
  };
}

function requestHead(endpoint: Endpoint): string {
  const { origin, path } = endpoint;
  const lines = [
    `POST ${path} HTTP/1.1`,
    `Host: ${new URL(origin).host}`,
    'Content-Type: application/json',
    'Accept-Encoding: identity',
    ...Object.entries(requestHeaders(endpoint)).map(([name, value]) => `${name}: ${value}`),
    'Content-Length: ',
  ];
  return lines.join('\r\n');
}

/** The subset of StreamingHttpClient that callers use. */
export type NodeHttp = Pick<StreamingHttpClient, 'post' | 'close' | 'origin'>;

export interface NodeHttpOptions extends Omit<StreamingHttpOptions, 'url'> {
  /** The address of one node, or the selection among several. */
  url: string | SelectedNode;
}

export function openNodeHttp({ url, ...options }: NodeHttpOptions): NodeHttp {
  if (typeof url === 'string') return new StreamingHttpClient({ ...options, url });
  const [only, ...others] = url.addresses;
  if (only !== undefined && others.length === 0)
    return new StreamingHttpClient({ ...options, url: only.http });
  return new SwitchingHttpClient(url, options);
}

/** Posts each request to the node in use at that time. */
class SwitchingHttpClient implements NodeHttp {
  private readonly clients: readonly StreamingHttpClient[];
  private readonly unsubscribe: () => void;
  private current: StreamingHttpClient;

  constructor(node: SelectedNode, options: Omit<StreamingHttpOptions, 'url'>) {
    this.clients = node.addresses.map(({ http }) => new StreamingHttpClient({ ...options, url: http }));
    this.current = this.clientAt(node.at);
    this.unsubscribe = node.onSelect((at, isAbandoned) => {
      const before = this.current;
      this.current = this.clientAt(at);
      if (isAbandoned) before.abandon();
    });
  }

  get origin(): string {
    return this.current.origin;
  }

  post(body: string, what: string, consumer: ResponseConsumer, options?: PostOptions): Exchange {
    return this.current.post(body, what, consumer, options);
  }

  close(): void {
    this.unsubscribe();
    for (const client of this.clients) client.close();
  }

  private clientAt(at: number): StreamingHttpClient {
    const client = this.clients[at];
    if (client === undefined) throw new RangeError(`there is no node ${at}`);
    return client;
  }
}

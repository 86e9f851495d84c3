/** The three transports: REST, /rpc and /ws. Each call checks its answer and returns whether it was admitted. */
import { once } from 'node:events';
import { WebSocket } from 'ws';

/** Longest time for an answer, milliseconds. */
const ANSWER_TIMEOUT_MS = 30_000;

/** JSON-RPC's code for a call over the limits. */
const RATE_LIMITED_CODE = -32005;

export interface RpcAnswer {
  id: number;
  result?: unknown;
  error?: { code: number; message: string };
}

export interface HttpAnswer {
  status: number;
  /** X-Indexed-Block. */
  block: number;
  body: unknown;
}

/** One client of HTTP with its key. */
export class HttpClient {
  private readonly url: string;
  private readonly key: string;

  constructor(url: string, key: string) {
    this.url = url;
    this.key = key;
  }

  async get(path: string): Promise<HttpAnswer> {
    return this.request(path, 'GET');
  }

  async rpc(method: string, params: unknown[]): Promise<HttpAnswer> {
    return this.request('/rpc', 'POST', JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }));
  }

  private async request(path: string, method: 'GET' | 'POST', body?: string): Promise<HttpAnswer> {
    const response = await fetch(this.url + path, {
      method,
      body: body ?? null,
      headers: { 'X-API-Key': this.key, 'Content-Type': 'application/json' },
      signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
    });
    const block = Number(response.headers.get('x-indexed-block') ?? 0);
    return { status: response.status, block, body: await response.json() };
  }
}

/** One WebSocket with its key. */
export class WsClient {
  /** Why the server ended the connection, if it did. */
  ended: string | null = null;
  private readonly socket: WebSocket;
  private readonly pending = new Map<number, (answer: RpcAnswer) => void>();
  private readonly listeners = new Map<string, (result: unknown) => void>();
  private lastId = 0;

  constructor(url: string, key: string) {
    this.socket = new WebSocket(`${url.replace('http', 'ws')}/ws`, { headers: { 'X-API-Key': key } });
    this.socket.on('message', (data) => this.onMessage(String(data)));
    this.socket.on('error', () => undefined);
    this.socket.on('close', (code, reason) => {
      this.ended = `${code} ${reason}`;
    });
  }

  async opened(): Promise<void> {
    await once(this.socket, 'open');
  }

  call(method: string, params: unknown[]): Promise<RpcAnswer> {
    const id = ++this.lastId;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(
        () => reject(new Error(`${method} over /ws was not answered`)),
        ANSWER_TIMEOUT_MS,
      );
      this.pending.set(id, (answer) => {
        clearTimeout(timer);
        resolve(answer);
      });
      this.socket.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
    });
  }

  /** Subscribes; the listener gets the notifications. */
  async subscribe(params: unknown[], listener: (result: unknown) => void): Promise<void> {
    const { result, error } = await this.call('eth_subscribe', params);
    if (typeof result !== 'string') throw new Error(`eth_subscribe was refused: ${error?.message}`);
    this.listeners.set(result, listener);
  }

  close(): void {
    this.socket.terminate();
  }

  private onMessage(text: string): void {
    const message: RpcAnswer & { params?: { subscription: string; result: unknown } } = JSON.parse(text);
    if (message.params !== undefined) {
      this.listeners.get(message.params.subscription)?.(message.params.result);
      return;
    }
    this.pending.get(message.id)?.(message);
    this.pending.delete(message.id);
  }
}

/** Whether a call was refused for being over the limits. */
export function isRateLimited({ error }: RpcAnswer): boolean {
  return error?.code === RATE_LIMITED_CODE;
}

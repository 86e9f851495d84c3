/** JSON-RPC over HTTP: single calls and batches. Nothing is retried here, but a batch that is too large is divided. */
import { UpstreamError, type UpstreamFailure } from '../errors.ts';
import type { Projection } from '../lib/json-projection.ts';
import { BatchLimit } from './batch-limit.ts';
import { HttpTransport, type UpstreamResponse } from './http-transport.ts';
import { GATEWAY_STATUSES, isBusy, REFUSAL_STATUSES } from './node-errors.ts';
import {
  batchName,
  httpError,
  parseBody,
  type RpcCall,
  type RpcReply,
  readBatch,
  readSingle,
} from './reply.ts';
import { isOverLimit, sendInBatches } from './send-in-batches.ts';

export type { RpcCall, RpcReply } from './reply.ts';

export interface RpcClientOptions {
  /** http or https; `user:password@` goes to the Authorization header. */
  url: string;
  /** Milliseconds from sending a request to the end of its answer. */
  timeoutMs: number;
  maxSockets: number;
  /** Most calls per batch; the node may turn out to accept fewer. */
  maxBatch: number;
  /** Most bytes of one answer; default 64 MiB. */
  maxResponseBytes?: number;
  /** Called once per call, also in a batch: seconds of the exchange that settled it; `failure` is null on success. */
  onCall?: (method: string, seconds: number, failure: UpstreamFailure | null) => void;
}

/** Monad and geth stop at 25 MB themselves. */
const DEFAULT_MAX_RESPONSE_BYTES = 64 * 2 ** 20;
/** Most exchanges that may wait for a socket: enough for several batches divided into single calls. */
const MAX_WAITING = 4096;
/** Statuses that mean "not now" or "not you": smaller batches would not help. */
const FINAL_STATUSES = new Set([...REFUSAL_STATUSES, ...GATEWAY_STATUSES]);

export class RpcClient {
  private readonly http: HttpTransport;
  private readonly limit: BatchLimit;
  private readonly onCall: RpcClientOptions['onCall'];
  /** Milliseconds one HTTP exchange may take. */
  readonly timeoutMs: number;

  constructor(options: RpcClientOptions) {
    this.timeoutMs = options.timeoutMs;
    this.http = new HttpTransport({
      url: options.url,
      timeoutMs: options.timeoutMs,
      maxSockets: options.maxSockets,
      maxWaiting: MAX_WAITING,
      maxResponseBytes: options.maxResponseBytes ?? DEFAULT_MAX_RESPONSE_BYTES,
    });
    this.limit = new BatchLimit(options.maxBatch);
    this.onCall = options.onCall;
  }

  /** Current number of calls per batch. */
  get batchSize(): number {
    return this.limit.size;
  }

  /** Result of one call. Rejects with an UpstreamError (any reason but `inconsistent`) or the signal's reason. */
  async call(method: string, params: readonly unknown[], signal?: AbortSignal): Promise<unknown> {
    const reply = await this.sendSingle({ method, params }, signal);
    if ('error' in reply) throw reply.error;
    return reply.result;
  }

  /**
   * Replies in the order of the calls. The reply to a call that the node answers with an error is that error
   * (`rpc`, or `too-large` when its result alone is over the limit). When an exchange as a whole fails
   * (`timeout`, `connection`, `http`, `malformed`, or `rpc` from a busy node), the promise rejects with that error.
   * Of results only the parts of the `projection` are read; without it, everything.
   */
  batch(calls: readonly RpcCall[], signal?: AbortSignal, projection?: Projection): Promise<RpcReply[]> {
    return sendInBatches(calls, this.limit, {
      single: (call) => this.sendSingle(call, signal, projection),
      batch: (part) => this.sendBatch(part, signal, projection),
    });
  }

  /** Fails the calls under way and closes the sockets. */
  async close(): Promise<void> {
    this.http.close();
  }

  private async sendSingle(
    call: RpcCall,
    signal: AbortSignal | undefined,
    projection?: Projection,
  ): Promise<RpcReply> {
    const startedAt = performance.now();
    try {
      const answer = await this.http.post(JSON.stringify(request(call, 0)), call.method, signal);
      if (answer.status !== 200) throw httpError(answer, call.method);
      const reply = readSingle(parsed(answer, call.method, projection), call.method);
      if (isOverLimit(reply)) throw new UpstreamError('too-large', reply.error.message, reply.error.code);
      this.report(call.method, startedAt, reply);
      return reply;
    } catch (error) {
      if (!(error instanceof UpstreamError)) throw error;
      this.report(call.method, startedAt, { error });
      if (error.reason === 'too-large') return { error };
      throw error;
    }
  }

  private async sendBatch(
    calls: readonly RpcCall[],
    signal: AbortSignal | undefined,
    projection: Projection | undefined,
  ): Promise<RpcReply[] | UpstreamError> {
    const startedAt = performance.now();
    try {
      const replies = await this.postBatch(calls, signal, projection);
      if (replies instanceof UpstreamError) return replies;
      for (const [index, reply] of replies.entries()) {
        if (!isOverLimit(reply)) this.report(calls[index]!.method, startedAt, reply);
      }
      return replies;
    } catch (error) {
      if (!(error instanceof UpstreamError)) throw error;
      if (error.reason === 'too-large') return error;
      for (const { method } of calls) this.report(method, startedAt, { error });
      throw error;
    }
  }

  private async postBatch(
    calls: readonly RpcCall[],
    signal: AbortSignal | undefined,
    projection: Projection | undefined,
  ): Promise<RpcReply[] | UpstreamError> {
    const what = batchName(calls);
    const answer = await this.http.post(JSON.stringify(calls.map(request)), what, signal);
    if (answer.status !== 200) {
      const error = httpError(answer, what);
      if (FINAL_STATUSES.has(answer.status)) throw error;
      return error;
    }
    const replies = readBatch(parsed(answer, what, projection), calls);
    if (replies instanceof UpstreamError && isBusy(replies)) throw replies;
    return replies;
  }

  private report(method: string, startedAt: number, reply: RpcReply): void {
    this.onCall?.(
      method,
      (performance.now() - startedAt) / 1000,
      'error' in reply ? reply.error.reason : null,
    );
  }
}

/** Reads an answer and frees its memory, which the garbage collector, seeing only small objects, would free too late. */
function parsed({ body }: UpstreamResponse, what: string, projection: Projection | undefined): unknown {
  try {
    return parseBody(body, what, projection);
  } finally {
    body.buffer.transfer(0);
  }
}

function request({ method, params }: RpcCall, index: number): unknown {
  return { jsonrpc: '2.0', id: index + 1, method, params };
}

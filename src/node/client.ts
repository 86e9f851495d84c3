/**
 * JSON-RPC over HTTP: single calls and batches. Splits batches that are too large, repeats rate-limited calls and, with
 * `tries`, exchanges that broke; retries nothing else.
 */
import { pause } from '../lib/async.ts';
import { UpstreamError, type UpstreamFailure } from '../lib/errors.ts';
import type { Projection } from '../lib/projection.ts';
import type { SelectedNode } from './choice/selected-node.ts';
import { BufferedHttpClient, type NodeResponse } from './http/buffered-client.ts';
import {
  GATEWAY_STATUSES,
  GATEWAY_TIMEOUTS,
  isBusy,
  isRateLimited,
  REFUSAL_STATUSES,
} from './node-errors.ts';
import { AdaptiveRateLimiter } from './rate-limiter.ts';
import {
  batchName,
  httpError,
  parseBody,
  type RpcCall,
  type RpcReply,
  readBatch,
  readSingle,
} from './reply.ts';
import { BatchLimit, isOverLimit, sendInBatches } from './send-in-batches.ts';

export type { RpcCall, RpcReply } from './reply.ts';

export interface RpcClientOptions {
  /**
   * http or https; `user:password@` goes to the Authorization header. Alternatively the selection among several nodes.
   */
  url: string | SelectedNode;
  /** Address of the node that serves traces; absent or empty for the same node. */
  tracesUrl?: string;
  /** Time from sending a request to the end of its answer, milliseconds. */
  timeoutMs: number;
  maxSockets: number;
  /** Most calls per batch. The client reduces it when the node accepts fewer. */
  maxBatch: number;
  /** Most bytes of one answer; default 64 MiB. */
  maxResponseBytes?: number;
  /** How long a node may refuse every call before the client gives up, milliseconds; default 5,000. */
  patienceMs?: number;
  /** Exchanges until a broken connection or server fails the request; default 1. */
  tries?: number;
  /** Called once per call, also in a batch, with the seconds of the final exchange; `failure` is null on success. */
  onCall?: (method: string, seconds: number, failure: UpstreamFailure | null) => void;
}

interface CallOptions {
  signal: AbortSignal | undefined;
  /** The parts of results to parse. Default: everything. */
  projection?: Projection | undefined;
}

/** Monad and geth limit answers to 25 MB themselves. */
const DEFAULT_MAX_RESPONSE_BYTES = 64 * 2 ** 20;
const DEFAULT_PATIENCE_MS = 5_000;
/** Most rate-limit refusals per call: the node may never accept this call although it accepts others. */
const MAX_REFUSALS = 12;
/** Most exchanges queued for a socket: enough for several batches split into single calls. */
const MAX_WAITING = 4096;
/**
 * Statuses that mean "not now" or "not you", for which a smaller batch would not help. Not 403, with which firewalls
 * refuse batches: a node that refuses everything refuses the single call too.
 */
const FINAL_STATUSES = new Set([...REFUSAL_STATUSES, ...GATEWAY_STATUSES]);
FINAL_STATUSES.delete(403);

/** Statuses of a broken server, of which there may be several, and of an answer without a body. */
const BROKEN_STATUSES = new Set(
  [204, 500, ...GATEWAY_STATUSES].filter((status) => !GATEWAY_TIMEOUTS.has(status)),
);
/** Pause before the first repetition, milliseconds. */
const REPEAT_MS = 50;

export class RpcClient {
  private readonly http: BufferedHttpClient;
  private readonly limit: BatchLimit;
  private readonly rateLimiter: AdaptiveRateLimiter;
  private readonly onCall: RpcClientOptions['onCall'];
  private readonly tries: number;
  private isClosed = false;
  /** Timeout of one HTTP exchange, milliseconds. */
  readonly timeoutMs: number;
  /** The client for trace calls: this one, unless traces have their own node. */
  readonly tracing: RpcClient;
  /** Whether the node refused the tracer's timeout (trace-calls.ts). */
  refusesTracerTimeout = false;

  constructor({ tracesUrl = '', ...options }: RpcClientOptions) {
    this.tracing = tracesUrl === '' ? this : new RpcClient({ ...options, url: tracesUrl });
    this.timeoutMs = options.timeoutMs;
    this.http = new BufferedHttpClient({
      url: options.url,
      timeoutMs: options.timeoutMs,
      maxSockets: options.maxSockets,
      maxWaiting: MAX_WAITING,
      maxResponseBytes: options.maxResponseBytes ?? DEFAULT_MAX_RESPONSE_BYTES,
    });
    this.limit = new BatchLimit(options.maxBatch);
    this.rateLimiter = new AdaptiveRateLimiter(options.patienceMs ?? DEFAULT_PATIENCE_MS);
    this.onCall = options.onCall;
    this.tries = options.tries ?? 1;
  }

  /** Current number of calls per batch. */
  get batchSize(): number {
    return this.limit.size;
  }

  /** Result of one call. Rejects with an UpstreamError (any reason but `inconsistent`) or the signal's reason. */
  async call(method: string, params: readonly unknown[], signal?: AbortSignal): Promise<unknown> {
    const reply = await this.sendSingle({ method, params }, 0, { signal });
    if ('error' in reply) throw reply.error;
    return reply.result;
  }

  /**
   * Replies in the order of the calls. When the node answers a call with an error, the reply is that error (`rpc`, or
   * `too-large` when its result alone exceeds the limit). When a whole exchange fails (`timeout`, `connection`, `http`,
   * `malformed`, or `rpc` from a busy node), the promise rejects with that error. Parses only the parts of results in
   * `projection`; without it, everything.
   */
  batch(calls: readonly RpcCall[], signal?: AbortSignal, projection?: Projection): Promise<RpcReply[]> {
    return this.send(calls, 0, { signal, projection });
  }

  /** Fails the calls in flight and closes the sockets. */
  async close(): Promise<void> {
    this.isClosed = true;
    this.rateLimiter.close();
    this.http.close();
    if (this.tracing !== this) await this.tracing.close();
  }

  /** Sends calls that were each refused `refusals` times before. */
  private send(calls: readonly RpcCall[], refusals: number, options: CallOptions): Promise<RpcReply[]> {
    return sendInBatches(calls, this.limit, {
      single: (call) => this.sendSingle(call, refusals, options),
      batch: (part) => this.sendBatch(part, refusals, options),
    });
  }

  private async sendSingle(call: RpcCall, refusedBefore: number, options: CallOptions): Promise<RpcReply> {
    for (let refusals = refusedBefore + 1; ; refusals++) {
      await this.rateLimiter.turn(1, options.signal);
      const startedAt = performance.now();
      try {
        const reply = await this.postSingle(call, options);
        if ('error' in reply && this.mustRepeat(reply.error, startedAt, refusals)) continue;
        this.report(call.method, startedAt, reply);
        return reply;
      } catch (error) {
        if (!(error instanceof UpstreamError)) throw error;
        if (this.mustRepeat(error, startedAt, refusals)) continue;
        this.report(call.method, startedAt, { error });
        if (error.reason === 'too-large') return { error };
        throw error;
      }
    }
  }

  private async sendBatch(
    calls: readonly RpcCall[],
    refusedBefore: number,
    options: CallOptions,
  ): Promise<RpcReply[] | UpstreamError> {
    for (let refusals = refusedBefore + 1; ; refusals++) {
      await this.rateLimiter.turn(calls.length, options.signal);
      const startedAt = performance.now();
      let replies: RpcReply[] | UpstreamError;
      try {
        replies = await this.postBatch(calls, options);
      } catch (error) {
        if (!(error instanceof UpstreamError)) throw error;
        if (error.reason === 'too-large') return error;
        if (this.mustRepeat(error, startedAt, refusals)) {
          if (calls.length <= this.rateLimiter.callsPerSecond) continue;
          return error; // a smaller batch may succeed
        }
        for (const { method } of calls) this.report(method, startedAt, { error });
        throw error;
      }
      if (replies instanceof UpstreamError) return replies;
      return this.repeatRefused(calls, replies, startedAt, refusals, options);
    }
  }

  /** Repeats the rate-limited calls of an accepted batch. */
  private async repeatRefused(
    calls: readonly RpcCall[],
    replies: RpcReply[],
    startedAt: number,
    refusals: number,
    options: CallOptions,
  ): Promise<RpcReply[]> {
    const repeated: number[] = [];
    for (const [index, reply] of replies.entries()) {
      if ('error' in reply && this.mustRepeat(reply.error, startedAt, refusals)) repeated.push(index);
      else if (!isOverLimit(reply)) this.report(calls[index]!.method, startedAt, reply);
    }
    const again = await this.send(
      repeated.map((index) => calls[index]!),
      repeated.length < calls.length ? 0 : refusals,
      options,
    );
    for (const [at, index] of repeated.entries()) replies[index] = again[at]!;
    return replies;
  }

  /** Whether a call or a whole batch was rate-limited and should be repeated. */
  private mustRepeat(error: UpstreamError, startedAt: number, refusals: number): boolean {
    return isRateLimited(error) && this.rateLimiter.refused(startedAt) && refusals < MAX_REFUSALS;
  }

  private async postSingle(call: RpcCall, { signal, projection }: CallOptions): Promise<RpcReply> {
    const answer = await this.post(request(call, 0), call.method, signal);
    if (answer.status !== 200) return refusedWith(httpError(answer, call.method));
    const value = parsed(answer, call.method, projection);
    if (value instanceof UpstreamError) throw value;
    const reply = readSingle(value, call.method);
    if (isOverLimit(reply)) throw new UpstreamError('too-large', reply.error.message, reply.error.code);
    return reply;
  }

  private async postBatch(
    calls: readonly RpcCall[],
    { signal, projection }: CallOptions,
  ): Promise<RpcReply[] | UpstreamError> {
    const what = batchName(calls);
    const answer = await this.post(calls.map(request), what, signal);
    if (answer.status !== 200) {
      const error = httpError(answer, what);
      if (FINAL_STATUSES.has(answer.status)) throw error;
      return error;
    }
    const value = parsed(answer, what, projection);
    const replies = value instanceof UpstreamError ? value : readBatch(value, calls);
    if (replies instanceof UpstreamError && isBusy(replies)) throw replies;
    return replies;
  }

  /** Posts, and again where perhaps only one of several servers behind the address failed. */
  private async post(value: unknown, what: string, signal: AbortSignal | undefined): Promise<NodeResponse> {
    const body = JSON.stringify(value);
    for (let tries = 1; ; tries++) {
      const mayRepeat = tries < this.tries && !this.isClosed;
      try {
        const answer = await this.http.post(body, what, signal);
        if (answer.status === 429) this.rateLimiter.hold(answer.retryAfterMs);
        if (!mayRepeat || !isBroken(answer)) return answer;
      } catch (error) {
        if (!mayRepeat || !isLost(error)) throw error;
      }
      await pause(REPEAT_MS * tries, signal);
      signal?.throwIfAborted();
    }
  }

  private report(method: string, startedAt: number, reply: RpcReply): void {
    if ('result' in reply) this.rateLimiter.accepted(1);
    this.onCall?.(
      method,
      (performance.now() - startedAt) / 1000,
      'error' in reply ? reply.error.reason : null,
    );
  }
}

/** The node's error, which some send with a status such as 400. Throws one that concerns more than the request. */
function refusedWith(error: UpstreamError): RpcReply {
  const { httpStatus = 0, code } = error;
  const isOfCall = httpStatus >= 400 && httpStatus < 500 && !REFUSAL_STATUSES.has(httpStatus);
  if (code === undefined || !isOfCall) throw error;
  return { error: new UpstreamError('rpc', error.message, code, { httpStatus, data: error.data }) };
}

/** Whether a server failed, or something else answered in its place. A node that names a time to wait is heeded. */
function isBroken({ status, body, retryAfterMs }: NodeResponse): boolean {
  if (status === 200) return !/^\s*[[{]/.test(body.toString('utf8', 0, 20));
  return BROKEN_STATUSES.has(status) && retryAfterMs === 0;
}

/** Whether a connection broke. A node that accepts none is down. */
function isLost(error: unknown): boolean {
  if (!(error instanceof UpstreamError) || error.reason !== 'connection') return false;
  const { cause } = error;
  return cause === undefined || (cause instanceof Error && 'code' in cause && cause.code === 'ECONNRESET');
}

/**
 * Parses an answer and frees its memory at once. The garbage collector sees only small objects and would free it late.
 * Returns UpstreamError for an answer that is not JSON.
 */
function parsed({ body }: NodeResponse, what: string, projection: Projection | undefined): unknown {
  try {
    return parseBody(body, what, projection);
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error;
    return error;
  } finally {
    body.buffer.transfer(0);
  }
}

function request({ method, params }: RpcCall, index: number): unknown {
  return { jsonrpc: '2.0', id: index + 1, method, params };
}

/** JSON-RPC requests of clients: admits them, dispatches their calls and assembles the answers. */

import type { ChainTracker } from '../chain/tracker.ts';
import { ByteBudget } from '../lib/byte-budget.ts';
import type { ByteSource } from '../lib/byte-stream.ts';
import { PerKeyLimit } from '../lib/limits.ts';
import type { Logger } from '../log/logger.ts';
import type { NodeHttp } from '../node/http/streaming-client.ts';
import { answerBatch, BATCH_CONCURRENCY } from './batch.ts';
import { createCall, NO_STREAMING, type RpcAnswer, type RpcConsumer, sendAnswer } from './call.ts';
import { CallDispatcher } from './call-dispatcher.ts';
import { collectAnswer, toPromise } from './collect-answer.ts';
import { errorJson, INTERNAL_ERROR, limitExceededAnswer, methodNotAllowed, type Refusal } from './errors.ts';
import type { Failover } from './failover.ts';
import type { PendingSource, TrackedChain } from './filters/filter.ts';
import { FilterRegistry } from './filters/filter-registry.ts';
import { Gateway, type GatewaySettings } from './gateway.ts';
import { LargeAnswer } from './large-answer.ts';
import { LogsHandler, type LogsSettings } from './logs/logs.ts';
import { RpcMeter, type RpcMetrics } from './meter.ts';
import { errorForAll, type IncomingCall, type InvalidCall, type RpcRequest, readRequest } from './request.ts';
import { SingleAnswer } from './single.ts';

/** The client that sent a request. */
export interface RpcCaller {
  /** Id of the API key, to which the gateway's limits apply. */
  key: number;
  /** The methods that this key may call, null for all offered methods. */
  mayCall: ((method: string) => boolean) | null;
  /** Called with the number of calls in a request. */
  charge(calls: number): Charge;
  /** Called when the request is refused because of the key's limits. */
  onRefused?(): void;
}

/** Null admits the calls. After `waits` the gateway answers nothing, and the caller makes the request again later. */
export type Charge = Refusal | 'waits' | null;

/** The settings of the `[rpc]` table that concern requests. */
export interface RpcSettings extends GatewaySettings, LogsSettings {
  slow_ms: number;
  concurrency_per_key: number;
}

export interface RpcHandlerOptions {
  node: Pick<NodeHttp, 'post'>;
  /** Chooses among several nodes; absent for a single one. */
  failover?: Failover | undefined;
  /** The node's chain. It feeds filters, and its finality decides what is cached. */
  chain: TrackedChain & Pick<ChainTracker, 'finality'>;
  /** Whether a method may be called. */
  allowed: (method: string) => boolean;
  settings: RpcSettings;
  log: Logger;
  metrics: RpcMetrics;
  /** Feeds filters of pending transactions; null if disabled. */
  pending: PendingSource | null;
  /** Monotonic milliseconds, for expiry. Default: performance.now(). */
  clock?: () => number;
}

/** Most bytes of answers buffered or not yet read, over all clients. */
const BUFFER_BYTES = 256 * 2 ** 20;
/** The share of one client: two of the largest collected answers, while two more are being collected. */
const CLIENT_BUFFER_BYTES = 128 * 2 ** 20;

export class RpcHandler {
  private readonly budget = new ByteBudget(BUFFER_BYTES, CLIENT_BUFFER_BYTES);
  private readonly gateway: Gateway;
  private readonly filters: FilterRegistry;
  private readonly dispatcher: CallDispatcher;
  /** Limits calls that wait for the node. */
  private readonly concurrency: PerKeyLimit;
  private readonly log: Logger;

  constructor(options: RpcHandlerOptions) {
    const { node, failover, chain, allowed, settings, log, metrics, pending, clock } = options;
    const { finality } = chain;
    const { budget } = this;
    this.log = log;
    const meter = new RpcMeter(metrics);
    this.gateway = new Gateway({ node, failover, finality, settings, budget, meter, log });
    const logs = new LogsHandler(this.gateway, settings, this.budget, log);
    this.filters = new FilterRegistry({
      chain,
      requestLogsFor: (client) => (method, params, signal) =>
        collectAnswer((consumer) => logs.run(createCall(method, params), consumer, client), signal),
      fetchLogsFor: (client) => (filter, range, hashAt, signal) =>
        logs.logsOfChain({ ...range, rest: filter }, hashAt, client, signal),
      pending,
      finalized: () => this.gateway.finalized,
      log,
      clock: clock ?? (() => performance.now()),
    });
    this.dispatcher = new CallDispatcher({
      allowed,
      special: new Map([
        ['eth_getLogs', (call, consumer, key) => logs.run(call, consumer, key)],
        ...this.filters.methods(),
      ]),
      fallback: (call, consumer, key) => this.gateway.run(call, consumer, key),
      slowMs: settings.slow_ms,
      meter,
      log,
    });
    this.concurrency = new PerKeyLimit(settings.concurrency_per_key);
  }

  /** Call before clients learn of a new head: answers about the previous head are stale. */
  headChanged(): void {
    this.gateway.headChanged();
  }

  /** Call when another node is in use. */
  nodeChanged(): void {
    this.gateway.nodeChanged();
  }

  /**
   * Answers a request body, given as the Latin-1 text of its bytes. The consumer may get the answer before
   * this returns.
   */
  serve(body: string, caller: RpcCaller, consumer: RpcConsumer): ByteSource {
    const request = withoutForbidden(readRequest(body), caller);
    const charge = this.admit(request, caller);
    if (charge === 'waits') return WAITING;
    if (charge !== null) {
      caller.onRefused?.();
      return sendAnswer(
        consumer,
        limitExceededAnswer(charge, (error) => errorForAll(request, error)),
      );
    }
    if (request.kind === 'batch') return this.batch(request.calls, caller.key, consumer);
    if (request.kind === 'single') return this.single(request.call, caller.key, consumer);
    const error = Buffer.from(errorForAll(request, request.error), 'latin1');
    return sendAnswer(consumer, { status: 200, body: error });
  }

  /**
   * Like `serve`, but resolves with the answer, in memory that is not reused, or with `waits` if the caller's charge
   * says so. The caller sends or discards a LargeAnswer. Rejects only with the signal's reason.
   */
  answer(body: Buffer, caller: RpcCaller, signal?: AbortSignal): Promise<RpcAnswer | 'waits'> {
    return toPromise((settle) => {
      const source = this.serve(body.toString('latin1'), caller, wholeConsumer(settle));
      if (source === WAITING) settle('waits');
      return source;
    }, signal);
  }

  private admit(request: RpcRequest, caller: RpcCaller): Charge {
    const calls = request.kind === 'batch' ? request.calls.length : 1;
    const atOnce = request.kind === 'refused' ? 0 : Math.min(calls, BATCH_CONCURRENCY);
    const free = this.concurrency.tryAcquire(caller.key, atOnce);
    const charge = caller.charge(free ? calls : 0) ?? (free ? null : TOO_MANY);
    if (free && charge !== null) this.concurrency.release(caller.key, atOnce);
    return charge;
  }

  private single(call: IncomingCall | InvalidCall, key: number, consumer: RpcConsumer): ByteSource {
    const startedAt = performance.now();
    const memory = { client: key, budget: this.budget };
    const answer = new SingleAnswer(call.id, memory, consumer, (status) => {
      this.concurrency.release(key, 1);
      if (status !== null) this.dispatcher.recordCall(call, status, startedAt);
    });
    return answer.start((answerConsumer) => this.dispatcher.dispatch(call, key, answerConsumer));
  }

  private batch(
    calls: readonly (IncomingCall | InvalidCall)[],
    key: number,
    consumer: RpcConsumer,
  ): ByteSource {
    const cancelled = new AbortController();
    const one = (call: IncomingCall | InvalidCall) =>
      this.dispatcher.dispatchAndCollect(call, key, cancelled.signal);
    void answerBatch(calls, this.budget.forClient(key), one)
      .catch((error: unknown): RpcAnswer => {
        if (!cancelled.signal.aborted) this.log.error({ err: error }, 'batch failed');
        return { status: 500, body: errorJson('null', INTERNAL_ERROR) };
      })
      .then((answer) => {
        this.concurrency.release(key, Math.min(calls.length, BATCH_CONCURRENCY));
        if (!cancelled.signal.aborted) sendAnswer(consumer, answer);
        else if (answer.body instanceof LargeAnswer) answer.body.discard();
      });
    return { cancel: () => cancelled.abort(), resume() {} };
  }
}

/** The source of a request that waits for its admission. */
const WAITING: ByteSource = { cancel() {}, resume() {} };

/** Replaces calls that the caller may not make with their errors. */
function withoutForbidden(request: RpcRequest, { mayCall }: RpcCaller): RpcRequest {
  if (mayCall === null || request.kind === 'refused') return request;
  const replace = (call: IncomingCall | InvalidCall): IncomingCall | InvalidCall =>
    'error' in call || mayCall(call.method) ? call : { id: call.id, error: methodNotAllowed(call.method) };
  return request.kind === 'single'
    ? { kind: 'single', call: replace(request.call) }
    : { kind: 'batch', calls: request.calls.map(replace) };
}

const TOO_MANY: Refusal = { message: 'too many calls of this key are waiting for the node', retryAfter: 1 };

function wholeConsumer(onAnswer: (answer: RpcAnswer) => void): RpcConsumer {
  return {
    ...NO_STREAMING,
    send(body, status, mayRetain, retryAfter) {
      const kept = mayRetain || !Buffer.isBuffer(body) ? body : Buffer.from(body);
      onAnswer({ status, body: kept, ...(retryAfter !== undefined && { retryAfter }) });
    },
  };
}

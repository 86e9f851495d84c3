/** JSON-RPC requests of clients: admits them, has each call answered, puts the answers together. */

import { ByteBudget } from '../lib/byte-budget.ts';
import { PerKeyLimit } from '../lib/per-key-limit.ts';
import type { Logger } from '../log.ts';
import type { WireTransport } from '../upstream/wire/transport.ts';
import { answerBatch, BATCH_CONCURRENCY } from './batch.ts';
import { type CallHandle, createCall, SETTLED_HANDLE } from './call.ts';
import { CallDispatcher } from './call-dispatcher.ts';
import { collectAnswer, toPromise } from './collect-answer.ts';
import { errorJson, INTERNAL_ERROR, limitExceededAnswer, type Refusal } from './errors.ts';
import { FilterRegistry } from './filters/filter-registry.ts';
import { Gateway, type GatewaySettings } from './gateway.ts';
import { LogsHandler, type LogsSettings } from './logs/logs.ts';
import { RpcMeter, type RpcMetrics } from './meter.ts';
import { errorForAll, type IncomingCall, type InvalidCall, type RpcRequest, readRequest } from './request.ts';
import { SingleAnswer } from './single.ts';
import { NO_STREAMING, type RpcAnswer, type RpcSink } from './sink.ts';

/** Who asks. */
export interface RpcCaller {
  /** Id of the API key; limits at the gateway apply per key. */
  key: number;
  /** Called once with the number of calls in a request; null admits them. */
  charge(calls: number): Refusal | null;
}

/** The settings of the `[rpc]` table that concern requests. */
export interface RpcSettings extends GatewaySettings, LogsSettings {
  slow_ms: number;
  concurrency_per_key: number;
}

export interface RpcHandlerOptions {
  transport: Pick<WireTransport, 'post'>;
  /** The methods that may be called. */
  allowed: (method: string) => boolean;
  settings: RpcSettings;
  log: Logger;
  metrics: RpcMetrics;
  /** Milliseconds that only go forward, for what expires; performance.now() unless given. */
  clock?: () => number;
}

/** Most bytes of answers being buffered at once, for all clients together. */
const BUFFER_BYTES = 256 * 2 ** 20;

export class RpcHandler {
  private readonly budget = new ByteBudget(BUFFER_BYTES);
  private readonly gateway: Gateway;
  private readonly dispatcher: CallDispatcher;
  /** Calls that wait for the node. */
  private readonly concurrency: PerKeyLimit;
  private readonly log: Logger;

  constructor({ transport, allowed, settings, log, metrics, clock }: RpcHandlerOptions) {
    this.log = log;
    const meter = new RpcMeter(metrics);
    this.gateway = new Gateway({ transport, settings, budget: this.budget, meter, log });
    const logs = new LogsHandler(this.gateway, settings, this.budget, log);
    const filters = new FilterRegistry({
      ask: this.gateway.ask,
      askUncached: this.gateway.askUncached,
      askLogsFor: (client) => (method, params, signal) =>
        collectAnswer((sink) => logs.run(createCall(method, params), sink, client), signal),
      finalized: () => this.gateway.finalized,
      log,
      clock: clock ?? (() => performance.now()),
    });
    this.dispatcher = new CallDispatcher({
      allowed,
      special: new Map([
        ['eth_getLogs', (call, sink, key) => logs.run(call, sink, key)],
        ...filters.methods(),
      ]),
      fallback: (call, sink, key) => this.gateway.run(call, sink, key),
      slowMs: settings.slow_ms,
      meter,
      log,
    });
    this.concurrency = new PerKeyLimit(settings.concurrency_per_key);
  }

  /** Clients are about to be told of a new head: answers about the previous one are stale. */
  headChanged(): void {
    this.gateway.headChanged();
  }

  /** The index was rolled back to `to`: when that is below a block that counted as final, all cached answers are dropped. */
  rolledBack(to: number): void {
    this.gateway.rolledBack(to);
  }

  /** Answers a request body, given as the Latin-1 text of its bytes, into the sink; possibly before this returns. */
  serve(body: string, caller: RpcCaller, sink: RpcSink): CallHandle {
    const request = readRequest(body);
    const refusal = this.admit(request, caller);
    if (refusal !== null) {
      sink.send(refusal, true);
      return SETTLED_HANDLE;
    }
    if (request.kind === 'batch') return this.batch(request.calls, caller.key, sink);
    if (request.kind === 'single') return this.single(request.call, caller.key, sink);
    sink.send({ status: 200, body: Buffer.from(errorForAll(request, request.error), 'latin1') }, true);
    return SETTLED_HANDLE;
  }

  /** `serve` as a promise of the whole answer, in memory that is not reused. Rejects only with the signal's reason. */
  answer(body: Buffer, caller: RpcCaller, signal?: AbortSignal): Promise<RpcAnswer> {
    return toPromise((settle) => this.serve(body.toString('latin1'), caller, wholeSink(settle)), signal);
  }

  private admit(request: RpcRequest, caller: RpcCaller): RpcAnswer | null {
    const calls = request.kind === 'batch' ? request.calls.length : 1;
    const atOnce = request.kind === 'refused' ? 0 : Math.min(calls, BATCH_CONCURRENCY);
    const free = this.concurrency.tryAcquire(caller.key, atOnce);
    const refusal = caller.charge(free ? calls : 0) ?? (free ? null : TOO_MANY);
    if (refusal === null) return null;
    if (free) this.concurrency.release(caller.key, atOnce);
    return limitExceededAnswer(refusal, (error) => errorForAll(request, error));
  }

  private single(call: IncomingCall | InvalidCall, key: number, sink: RpcSink): CallHandle {
    const startedAt = performance.now();
    const answer = new SingleAnswer(call.id, sink, (status) => {
      this.concurrency.release(key, 1);
      if (status !== null) this.dispatcher.recordCall(call, status, startedAt);
    });
    return answer.start((answerSink) => this.dispatcher.dispatch(call, key, answerSink));
  }

  private batch(calls: readonly (IncomingCall | InvalidCall)[], key: number, sink: RpcSink): CallHandle {
    const cancelled = new AbortController();
    const one = (call: IncomingCall | InvalidCall) =>
      this.dispatcher.dispatchAndCollect(call, key, cancelled.signal);
    answerBatch(calls, this.budget.forClient(key), one)
      .catch((error: unknown): RpcAnswer => {
        if (!cancelled.signal.aborted) this.log.error({ err: error }, 'batch failed');
        return { status: 500, body: errorJson('null', INTERNAL_ERROR) };
      })
      .then((answer) => {
        this.concurrency.release(key, Math.min(calls.length, BATCH_CONCURRENCY));
        if (!cancelled.signal.aborted) sink.send(answer, true);
      });
    return { cancel: () => cancelled.abort(), resume() {} };
  }
}

const TOO_MANY: Refusal = { message: 'too many calls of this key wait for the node at once', retryAfter: 1 };

function wholeSink(onAnswer: (answer: RpcAnswer) => void): RpcSink {
  return {
    ...NO_STREAMING,
    send: (answer, mayRetain) =>
      onAnswer(
        mayRetain || !Buffer.isBuffer(answer.body) ? answer : { ...answer, body: Buffer.from(answer.body) },
      ),
  };
}

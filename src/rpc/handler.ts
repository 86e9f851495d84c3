/** JSON-RPC requests of clients: admits them, has each call answered, puts the answers together. */

import { ByteBudget } from '../lib/byte-budget.ts';
import { KeyShares } from '../lib/key-shares.ts';
import type { Logger } from '../log.ts';
import type { WireTransport } from '../upstream/wire/transport.ts';
import { answerBatch, BATCH_CONCURRENCY } from './batch.ts';
import { ownCall, type Pending, SETTLED } from './call.ts';
import { Calls } from './calls.ts';
import { errorText, INTERNAL_ERROR, overLimitAnswer, type Refusal } from './errors.ts';
import { Filters } from './filters/filters.ts';
import { Gateway, type GatewaySettings } from './gateway.ts';
import { gather, settled } from './gathering.ts';
import { Logs, type LogsSettings } from './logs/logs.ts';
import { RpcMeter, type RpcMetrics } from './meter.ts';
import { type BadCall, type RpcCall, type RpcRequest, readRequest } from './request.ts';
import { SingleAnswer } from './single.ts';
import { ONLY_WHOLE, type RpcAnswer, type RpcSink } from './sink.ts';

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

/** Most bytes of answers being gathered at once, for all clients together. */
const GATHER_BUDGET = 256 * 2 ** 20;

export class RpcHandler {
  private readonly budget = new ByteBudget(GATHER_BUDGET);
  private readonly gateway: Gateway;
  private readonly calls: Calls;
  /** Calls that wait for the node. */
  private readonly concurrency: KeyShares;
  private readonly log: Logger;

  constructor({ transport, allowed, settings, log, metrics, clock }: RpcHandlerOptions) {
    this.log = log;
    const meter = new RpcMeter(metrics);
    this.gateway = new Gateway({ transport, settings, budget: this.budget, meter, log });
    const logs = new Logs(this.gateway, settings, this.budget, log);
    const filters = new Filters({
      ask: this.gateway.ask,
      askNode: this.gateway.askNode,
      askLogs: (client) => (method, params, signal) =>
        gather((taker) => logs.run(ownCall(method, params), taker, client), signal),
      finalized: () => this.gateway.finalized,
      log,
      clock: clock ?? (() => performance.now()),
    });
    this.calls = new Calls({
      allowed,
      special: new Map([
        ['eth_getLogs', (call, taker, key) => logs.run(call, taker, key)],
        ...filters.methods(),
      ]),
      others: (call, taker, key) => this.gateway.run(call, taker, key),
      slowMs: settings.slow_ms,
      meter,
      log,
    });
    this.concurrency = new KeyShares(settings.concurrency_per_key);
  }

  /** The node has announced a new head: its answers about the previous one are stale. */
  headChanged(): void {
    this.gateway.headChanged();
  }

  /** Answers a request body, given as the Latin-1 text of its bytes, into the sink; possibly before this returns. */
  serve(body: string, caller: RpcCaller, sink: RpcSink): Pending {
    const request = readRequest(body);
    const refusal = this.admit(request, caller);
    if (refusal !== null) {
      sink.whole(refusal, true);
      return SETTLED;
    }
    if (request.kind === 'batch') return this.batch(request.calls, caller.key, sink);
    if (request.kind === 'single') return this.single(request.call, caller.key, sink);
    sink.whole({ status: 200, body: errorText('null', request.error) }, true);
    return SETTLED;
  }

  /** The same, resolving with the whole answer in memory that is not reused. Rejects only with the signal's reason. */
  answer(body: Buffer, caller: RpcCaller, signal?: AbortSignal): Promise<RpcAnswer> {
    return settled((settle) => this.serve(body.toString('latin1'), caller, wholeSink(settle)), signal);
  }

  private admit(request: RpcRequest, caller: RpcCaller): RpcAnswer | null {
    const calls = request.kind === 'batch' ? request.calls.length : 1;
    const atOnce = request.kind === 'refused' ? 0 : Math.min(calls, BATCH_CONCURRENCY);
    const free = this.concurrency.enter(caller.key, atOnce);
    const refusal = caller.charge(free ? calls : 0) ?? (free ? null : TOO_MANY);
    if (refusal === null) return null;
    if (free) this.concurrency.leave(caller.key, atOnce);
    const id = request.kind === 'single' ? request.call.id : null;
    return overLimitAnswer(id ?? 'null', refusal);
  }

  private single(call: RpcCall | BadCall, key: number, sink: RpcSink): Pending {
    const began = performance.now();
    const answer = new SingleAnswer(call.id, sink, (status) => {
      this.concurrency.leave(key, 1);
      if (status !== null) this.calls.observe(call, status, began);
    });
    return answer.start((taker) => this.calls.run(call, key, taker));
  }

  private batch(calls: readonly (RpcCall | BadCall)[], key: number, sink: RpcSink): Pending {
    const left = new AbortController();
    const one = (call: RpcCall | BadCall) => this.calls.gather(call, key, left.signal);
    answerBatch(calls, this.budget.of(key), one)
      .catch((error: unknown): RpcAnswer => {
        if (!left.signal.aborted) this.log.error({ err: error }, 'batch failed');
        return { status: 500, body: errorText('null', INTERNAL_ERROR) };
      })
      .then((answer) => {
        this.concurrency.leave(key, Math.min(calls.length, BATCH_CONCURRENCY));
        if (!left.signal.aborted) sink.whole(answer, true);
      });
    return { abandon: () => left.abort(), resume() {} };
  }
}

const TOO_MANY: Refusal = { message: 'too many calls of this key wait for the node at once', retryAfter: 1 };

function wholeSink(whole: (answer: RpcAnswer) => void): RpcSink {
  return {
    ...ONLY_WHOLE,
    whole: (answer, kept) =>
      whole(kept || !Buffer.isBuffer(answer.body) ? answer : { ...answer, body: Buffer.from(answer.body) }),
  };
}

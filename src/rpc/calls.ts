/** Single calls of clients: whether they are allowed, what answers them, how long they take. */
import type { Logger } from '../log.ts';
import type { Answer, Call, Pending, Taker } from './call.ts';
import { SETTLED } from './call.ts';
import { RpcCode, type RpcError } from './errors.ts';
import { gather } from './gathering.ts';
import type { RpcMeter } from './meter.ts';
import { kindOf } from './method-kind.ts';
import type { BadCall, RpcCall } from './request.ts';
import { tailOf } from './tail.ts';

/** Answers calls of certain methods, made with this key. */
export type Answering = (call: Call, taker: Taker, key: number) => Pending;

export interface CallsOptions {
  /** The methods that may be called. */
  allowed: (method: string) => boolean;
  /** What answers each method that is not simply passed on. */
  special: ReadonlyMap<string, Answering>;
  /** What answers all others. */
  others: Answering;
  /** Calls slower than this are logged, milliseconds. */
  slowMs: number;
  meter: Pick<RpcMeter, 'answered'>;
  log: Logger;
}

/** Limited because names are kept (method-kind.ts); the nodes' longest method name is a third of the limit. */
const METHOD = /^(?=.{3,128}$)[A-Za-z0-9]+_[A-Za-z0-9_]+$/;

export class Calls {
  private readonly options: CallsOptions;

  constructor(options: CallsOptions) {
    this.options = options;
  }

  /** Gets a call answered, or refuses it. */
  run(call: RpcCall | BadCall, key: number, taker: Taker): Pending {
    if ('error' in call) return refuse(taker, call.error);
    const { method } = call;
    const { allowed, special, others } = this.options;
    if (!METHOD.test(method) || !allowed(method)) return refuse(taker, unknownMethod(method));
    return (special.get(method) ?? others)(call, taker, key);
  }

  /** The same, resolving with the whole answer. Rejects only with the signal's reason. */
  async gather(call: RpcCall | BadCall, key: number, signal?: AbortSignal): Promise<Answer> {
    const began = performance.now();
    const answer = await gather((taker) => this.run(call, key, taker), signal);
    this.observe(call, answer.status, began);
    return answer;
  }

  /** Counts an answered call and logs a slow one. `began` is a time of performance.now(). */
  observe(call: RpcCall | BadCall, status: number, began: number): void {
    if ('error' in call) return;
    const ms = performance.now() - began;
    this.options.meter.answered(call.method, status, ms / 1000);
    if (ms > this.options.slowMs) {
      this.options.log.warn({ method: kindOf(call.method).label, ms: Math.round(ms) }, 'slow call');
    }
  }
}

function refuse(taker: Taker, error: RpcError): Pending {
  taker.take(tailOf(error), 200, true);
  return SETTLED;
}

function unknownMethod(method: string): RpcError {
  const name = METHOD.test(method) ? ` ${method}` : '';
  return {
    code: RpcCode.methodNotFound,
    message: `the method${name} does not exist or is not available here`,
  };
}

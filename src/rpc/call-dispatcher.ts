/** Single calls of clients: whether they are allowed, what answers them, how long they take. */
import type { Logger } from '../log.ts';
import { type Answer, type AnswerSink, answerAtOnce, type Call, type CallHandle } from './call.ts';
import { collectAnswer } from './collect-answer.ts';
import { errorAnswer, RpcCode } from './errors.ts';
import type { RpcMeter } from './meter.ts';
import { methodLabel } from './method-label.ts';
import type { IncomingCall, InvalidCall } from './request.ts';

/** Answers calls of certain methods, made with this key. */
export type CallHandler = (call: Call, sink: AnswerSink, key: number) => CallHandle;

export interface CallDispatcherOptions {
  /** The methods that may be called. */
  allowed: (method: string) => boolean;
  /** What answers each method that is not simply passed on. */
  special: ReadonlyMap<string, CallHandler>;
  /** What answers all others. */
  fallback: CallHandler;
  /** Calls slower than this are logged, milliseconds. */
  slowMs: number;
  meter: Pick<RpcMeter, 'recordAnswer'>;
  log: Logger;
}

/** Bounded, because names are kept (method-kind.ts): to three times the longest name that nodes have. */
const METHOD = /^(?=.{3,128}$)[A-Za-z0-9]+_[A-Za-z0-9_]+$/;

export class CallDispatcher {
  private readonly options: CallDispatcherOptions;

  constructor(options: CallDispatcherOptions) {
    this.options = options;
  }

  /** Gets a call answered, or refuses it. */
  dispatch(call: IncomingCall | InvalidCall, key: number, sink: AnswerSink): CallHandle {
    if ('error' in call) return answerAtOnce(sink, errorAnswer(call.error));
    const { method } = call;
    const { allowed, special, fallback } = this.options;
    if (!METHOD.test(method) || !allowed(method)) return answerAtOnce(sink, unknownMethod(method));
    return (special.get(method) ?? fallback)(call, sink, key);
  }

  /** `dispatch` as a promise of the whole answer. Rejects only with the signal's reason. */
  async dispatchAndCollect(
    call: IncomingCall | InvalidCall,
    key: number,
    signal?: AbortSignal,
  ): Promise<Answer> {
    const startedAt = performance.now();
    const answer = await collectAnswer((sink) => this.dispatch(call, key, sink), signal);
    this.recordCall(call, answer.status, startedAt);
    return answer;
  }

  /** Counts an answered call and logs a slow one. `startedAt` is a time of performance.now(). */
  recordCall(call: IncomingCall | InvalidCall, status: number, startedAt: number): void {
    if ('error' in call) return;
    const ms = performance.now() - startedAt;
    this.options.meter.recordAnswer(call.method, status, ms / 1000);
    if (ms > this.options.slowMs) {
      this.options.log.warn({ method: methodLabel(call.method), ms: Math.round(ms) }, 'slow call');
    }
  }
}

function unknownMethod(method: string): Answer {
  const name = METHOD.test(method) ? ` ${method}` : '';
  const message = `the method${name} does not exist or is not available here`;
  return errorAnswer({ code: RpcCode.methodNotFound, message });
}

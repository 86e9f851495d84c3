/** Checks whether a client's call is permitted, hands it to the component that answers it, and measures it. */
import type { ByteSource } from '../lib/byte-stream.ts';
import { detachString } from '../lib/text.ts';
import type { Logger } from '../log/logger.ts';
import { type Call, type CallConsumer, type CallResult, sendResult } from './call.ts';
import { collectResult } from './collect-answer.ts';
import { errorResult, RpcCode } from './errors.ts';
import { LargeAnswer } from './large-answer.ts';
import type { RpcMeter } from './meter.ts';
import { methodLabel } from './methods.ts';
import type { IncomingCall, InvalidCall } from './request.ts';

/** Answers a call of key `key`. */
export type ByteSourcer = (call: Call, consumer: CallConsumer, key: number) => ByteSource;

interface CallDispatcherOptions {
  /** Whether a method may be called. */
  allowed: (method: string) => boolean;
  /** Handlers of methods that are not simply forwarded. */
  special: ReadonlyMap<string, ByteSourcer>;
  /** The handler of all other methods. */
  fallback: ByteSourcer;
  /** Calls slower than this are logged, milliseconds. */
  slowMs: number;
  meter: Pick<RpcMeter, 'recordAnswer'>;
  log: Logger;
}

/** Bounded to three times the longest name in use, because names are stored. */
const METHOD = /^(?=.{3,128}$)[A-Za-z0-9]+_[A-Za-z0-9_]+$/;

/** Clients choose method names, so the table must be bounded. */
const MAX_HANDLERS = 1_000;

export class CallDispatcher {
  private readonly options: CallDispatcherOptions;
  /** Handlers by permitted method, because the decision takes several lookups and patterns. */
  private readonly handlers = new Map<string, ByteSourcer>();

  constructor(options: CallDispatcherOptions) {
    this.options = options;
  }

  /** Hands a call to its handler, or refuses it. */
  dispatch(call: IncomingCall | InvalidCall, key: number, consumer: CallConsumer): ByteSource {
    if ('error' in call) return sendResult(consumer, errorResult(call.error));
    const { method } = call;
    const handler = this.handlers.get(method) ?? this.findHandler(method);
    return handler === null ? sendResult(consumer, unknownMethod(method)) : handler(call, consumer, key);
  }

  /** The handler of a method, null if the method is not permitted. */
  private findHandler(method: string): ByteSourcer | null {
    const { allowed, special, fallback } = this.options;
    if (!METHOD.test(method) || !allowed(method)) return null;
    const handler = special.get(method) ?? fallback;
    if (this.handlers.size < MAX_HANDLERS) this.handlers.set(detachString(method), handler);
    return handler;
  }

  /** Like `dispatch`, but resolves with the answer (see `collectResult`). Rejects only with the signal's reason. */
  async dispatchAndCollect(
    call: IncomingCall | InvalidCall,
    key: number,
    signal?: AbortSignal,
  ): Promise<CallResult | LargeAnswer> {
    const startedAt = performance.now();
    const answer = await collectResult((consumer) => this.dispatch(call, key, consumer), signal);
    this.recordCall(call, answer instanceof LargeAnswer ? 200 : answer.status, startedAt);
    return answer;
  }

  /** Counts an answered call and logs a slow one. `startedAt` is from performance.now(). */
  recordCall(call: IncomingCall | InvalidCall, status: number, startedAt: number): void {
    if ('error' in call) return;
    const ms = performance.now() - startedAt;
    this.options.meter.recordAnswer(call.method, status, ms / 1000);
    if (ms > this.options.slowMs) {
      this.options.log.warn({ method: methodLabel(call.method), ms: Math.round(ms) }, 'slow call');
    }
  }
}

function unknownMethod(method: string): CallResult {
  const name = METHOD.test(method) ? ` ${method}` : '';
  const message = `the method${name} does not exist or is not available here`;
  return errorResult({ code: RpcCode.methodNotFound, message });
}

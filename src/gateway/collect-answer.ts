/** Converts callbacks to promises and back, for code that needs whole answers. */
import type { ByteSource } from '../lib/byte-stream.ts';
import { UpstreamError } from '../lib/errors.ts';
import type { Logger } from '../log/logger.ts';
import { type CallResult, type CallSink, NO_STREAMING } from './call.ts';
import { errorResult, failureResult, INTERNAL_ERROR } from './errors.ts';
import { LargeAnswer } from './large-answer.ts';

/**
 * Resolves with the value that `begin` passes to `settle`, perhaps before `begin` returns. Rejects only with the
 * signal's reason, after cancelling the pending work.
 */
export function toPromise<T>(
  begin: (settle: (value: T) => void) => ByteSource,
  signal?: AbortSignal,
): Promise<T> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    let pending: ByteSource | null = null;
    const onAbort = () => {
      pending?.cancel();
      reject(signal?.reason);
    };
    // Added before `begin` runs, because an immediate result must find the listener to remove it.
    signal?.addEventListener('abort', onAbort, { once: true });
    pending = begin((value) => {
      signal?.removeEventListener('abort', onAbort);
      resolve(value);
    });
  });
}

/** Resolves with the whole answer to the call that `run` starts. Rejects only with the signal's reason. */
export async function collectAnswer(
  run: (sink: CallSink) => ByteSource,
  signal?: AbortSignal,
): Promise<CallResult> {
  return whole(await collectResult(run, signal));
}

/** Joins a large answer for parsing. */
export function whole(answer: CallResult | LargeAnswer): CallResult {
  return answer instanceof LargeAnswer ? { tail: answer.join(), status: 200 } : answer;
}

/** Like `collectAnswer`, but does not join a large answer. The caller sends or discards it. */
export function collectResult(
  run: (sink: CallSink) => ByteSource,
  signal?: AbortSignal,
): Promise<CallResult | LargeAnswer> {
  return toPromise((settle) => run(wholeResultSink(settle)), signal);
}

/** The outcome of work for a sink: the answer, or a function that answers the sink itself. */
type CallOutcome = CallResult | LargeAnswer | ((sink: CallSink) => ByteSource);

/** Sends the result of `work` to the sink, or an error when `work` throws. Cancelling aborts the work. */
export function deliver(
  sink: CallSink,
  log: Pick<Logger, 'error'>,
  work: (signal: AbortSignal) => Promise<CallOutcome>,
): ByteSource {
  const cancelled = new AbortController();
  let pending: ByteSource = { cancel: () => cancelled.abort(), resume() {} };
  const settle = (delivery: CallOutcome) => {
    if (cancelled.signal.aborted) {
      if (delivery instanceof LargeAnswer) delivery.discard();
    } else if (typeof delivery === 'function') pending = delivery(sink);
    else if (delivery instanceof LargeAnswer) sink.send(delivery, 200, true);
    else sink.send(delivery.tail, delivery.status, true, delivery.retryAfter);
  };
  work(cancelled.signal).then(settle, (error: unknown) => {
    if (cancelled.signal.aborted) return;
    if (error instanceof UpstreamError) return settle(failureResult(error));
    log.error({ err: error }, 'call failed');
    settle(errorResult(INTERNAL_ERROR));
  });
  return { cancel: () => pending.cancel(), resume: () => pending.resume() };
}

function wholeResultSink(onResult: (result: CallResult | LargeAnswer) => void): CallSink {
  return {
    ...NO_STREAMING,
    requiresValidJson: true,
    send(tail, status, mayRetain, retryAfter, httpStatus) {
      if (tail instanceof LargeAnswer) onResult(tail);
      else onResult({ tail: mayRetain ? tail : Buffer.from(tail), status, retryAfter, httpStatus });
    },
  };
}

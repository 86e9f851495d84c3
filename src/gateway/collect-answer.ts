/** Converts callbacks to promises and back, for code that needs whole answers. */
import type { ByteSource } from '../lib/byte-stream.ts';
import { UpstreamError } from '../lib/errors.ts';
import type { Logger } from '../log/logger.ts';
import { type CallConsumer, type CallResult, NO_STREAMING } from './call.ts';
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
  run: (consumer: CallConsumer) => ByteSource,
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
  run: (consumer: CallConsumer) => ByteSource,
  signal?: AbortSignal,
): Promise<CallResult | LargeAnswer> {
  return toPromise((settle) => run(wholeResultConsumer(settle)), signal);
}

/** The outcome of work for a consumer: the answer, or a function that answers the consumer itself. */
type CallOutcome = CallResult | LargeAnswer | ((consumer: CallConsumer) => ByteSource);

/** Sends the result of `work` to the consumer, or an error when `work` throws. Cancelling aborts the work. */
export function deliver(
  consumer: CallConsumer,
  log: Pick<Logger, 'error'>,
  work: (signal: AbortSignal) => Promise<CallOutcome>,
): ByteSource {
  const cancelled = new AbortController();
  let pending: ByteSource = { cancel: () => cancelled.abort(), resume() {} };
  const settle = (delivery: CallOutcome) => {
    if (cancelled.signal.aborted) {
      if (delivery instanceof LargeAnswer) delivery.discard();
    } else if (typeof delivery === 'function') pending = delivery(consumer);
    else if (delivery instanceof LargeAnswer) consumer.send(delivery, 200, true);
    else consumer.send(delivery.tail, delivery.status, true, delivery.retryAfter);
  };
  work(cancelled.signal).then(settle, (error: unknown) => {
    if (cancelled.signal.aborted) return;
    if (error instanceof UpstreamError) return settle(failureResult(error));
    log.error({ err: error }, 'call failed');
    settle(errorResult(INTERNAL_ERROR));
  });
  return { cancel: () => pending.cancel(), resume: () => pending.resume() };
}

function wholeResultConsumer(onResult: (result: CallResult | LargeAnswer) => void): CallConsumer {
  return {
    ...NO_STREAMING,
    requiresValidJson: true,
    send(tail, status, mayRetain, retryAfter, httpStatus) {
      if (tail instanceof LargeAnswer) onResult(tail);
      else onResult({ tail: mayRetain ? tail : Buffer.from(tail), status, retryAfter, httpStatus });
    },
  };
}

/** From callbacks to promises and back, for code that needs whole answers. */
import { UpstreamError } from '../errors.ts';
import type { Logger } from '../log.ts';
import type { Answer, AnswerSink, CallHandle, CallStatus } from './call.ts';
import { errorAnswer, failureAnswer, INTERNAL_ERROR } from './errors.ts';
import { NO_STREAMING } from './sink.ts';

/**
 * Resolves with the value that `begin` passes to `settle`, perhaps before it returns. Rejects only with the signal's
 * reason, after cancelling the pending work.
 */
export function toPromise<T>(
  begin: (settle: (value: T) => void) => CallHandle,
  signal?: AbortSignal,
): Promise<T> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    let pending: CallHandle | null = null;
    const onAbort = () => {
      pending?.cancel();
      reject(signal?.reason);
    };
    // Added before `begin` runs: an immediate result must find the listener, to remove it.
    signal?.addEventListener('abort', onAbort, { once: true });
    pending = begin((value) => {
      signal?.removeEventListener('abort', onAbort);
      resolve(value);
    });
  });
}

/** Resolves with the whole answer to what `run` begins. Rejects only with the signal's reason. */
export function collectAnswer(run: (sink: AnswerSink) => CallHandle, signal?: AbortSignal): Promise<Answer> {
  return toPromise(
    (settle) => run(wholeAnswerSink((payload, status) => settle({ payload, status }))),
    signal,
  );
}

/** The result of work for a sink: the answer, or a function that goes on to answer into the sink itself. */
export type Delivery = Answer | ((sink: AnswerSink) => CallHandle);

/** Sends the result of `work` to the sink, or an error when it throws. Cancelling aborts the work. */
export function deliver(
  sink: AnswerSink,
  log: Pick<Logger, 'error'>,
  work: (signal: AbortSignal) => Promise<Delivery>,
): CallHandle {
  const cancelled = new AbortController();
  let pending: CallHandle = { cancel: () => cancelled.abort(), resume() {} };
  const settle = (delivery: Delivery) => {
    if (cancelled.signal.aborted) return;
    if (typeof delivery === 'function') pending = delivery(sink);
    else sink.send(delivery.payload, delivery.status, true);
  };
  work(cancelled.signal).then(settle, (error: unknown) => {
    if (cancelled.signal.aborted) return;
    if (error instanceof UpstreamError) return settle(failureAnswer(error));
    log.error({ err: error }, 'call failed');
    settle(errorAnswer(INTERNAL_ERROR));
  });
  return { cancel: () => pending.cancel(), resume: () => pending.resume() };
}

function wholeAnswerSink(onAnswer: (payload: Buffer, status: CallStatus) => void): AnswerSink {
  return {
    ...NO_STREAMING,
    requiresValidJson: true,
    send: (payload, status, mayRetain) => onAnswer(mayRetain ? payload : Buffer.from(payload), status),
  };
}

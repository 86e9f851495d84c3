/** From callbacks to promises and back, for code that needs whole answers. */
import { UpstreamError } from '../errors.ts';
import type { Logger } from '../log.ts';
import type { Answer, CallStatus, Pending, Taker } from './call.ts';
import { failureAnswer, INTERNAL_ERROR } from './errors.ts';
import { ONLY_WHOLE } from './sink.ts';
import { tailOf } from './tail.ts';

/**
 * Resolves with the value that `begin` passes to `settle`, perhaps before it returns. Rejects only with the signal's
 * reason, after abandoning the pending work.
 */
export function settled<T>(begin: (settle: (value: T) => void) => Pending, signal?: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    let pending: Pending | null = null;
    const onAbort = () => {
      pending?.abandon();
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
export function gather(run: (taker: Taker) => Pending, signal?: AbortSignal): Promise<Answer> {
  return settled((settle) => run(wholeTaker((tail, status) => settle({ tail, status }))), signal);
}

/** The result of work for a taker: the answer, or a function that goes on to answer the taker itself. */
export type Delivery = Answer | ((taker: Taker) => Pending);

/** Gives the taker the result of `work`, or an error when it throws. The work is aborted when the taker leaves. */
export function deliver(
  taker: Taker,
  log: Pick<Logger, 'error'>,
  work: (signal: AbortSignal) => Promise<Delivery>,
): Pending {
  const left = new AbortController();
  let pending: Pending = { abandon: () => left.abort(), resume() {} };
  const settle = (delivery: Delivery) => {
    if (left.signal.aborted) return;
    if (typeof delivery === 'function') pending = delivery(taker);
    else taker.take(delivery.tail, delivery.status, true);
  };
  work(left.signal).then(settle, (error: unknown) => {
    if (left.signal.aborted) return;
    if (error instanceof UpstreamError) return settle(failureAnswer(error));
    log.error({ err: error }, 'call failed');
    settle({ tail: tailOf(INTERNAL_ERROR), status: 200 });
  });
  return { abandon: () => pending.abandon(), resume: () => pending.resume() };
}

function wholeTaker(take: (tail: Buffer, status: CallStatus) => void): Taker {
  return {
    ...ONLY_WHOLE,
    strict: true,
    take: (tail, status, kept) => take(kept ? tail : Buffer.from(tail), status),
  };
}

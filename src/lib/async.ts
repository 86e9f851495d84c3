/** Abort signals, concurrency, backoff and pauses. */
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Aborts `controller` when `signal` aborts, until the returned function is called. For signals that outlive many
 * controllers: each `AbortSignal.any` on such a signal leaks 200 bytes (Node 22).
 */
export function abortWith(controller: AbortController, signal: AbortSignal): () => void {
  const onAbort = (): void => controller.abort(signal.reason);
  if (signal.aborted) onAbort();
  else signal.addEventListener('abort', onAbort, { once: true });
  return () => signal.removeEventListener('abort', onAbort);
}

/** Wraps `action` so that only the first call runs it, because a counted resource must not be released twice. */
export function once(action: () => void): () => void {
  let called = false;
  return () => {
    if (called) return;
    called = true;
    action();
  };
}

/**
 * Milliseconds to wait before retry `attempt` (1 = first): doubles from `base` to `max`, minus up to 20 % at random so
 * that clients do not retry in lockstep.
 */
export function backoffMs(attempt: number, base: number, max: number): number {
  const full = Math.min(max, base * 2 ** Math.min(attempt - 1, 30));
  return Math.round(full * (0.8 + Math.random() * 0.2));
}

/** Resolves after `ms`, or at once, without error, when the signal aborts. */
export async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted) return;
  await sleep(ms, undefined, { signal }).catch(() => undefined);
}

/**
 * Runs `work` on every item, `concurrency` at a time. The first failure aborts the signal of the others; rejects with
 * it once none is running.
 */
export async function forEachConcurrently<T>(
  items: Iterable<T>,
  concurrency: number,
  signal: AbortSignal,
  work: (item: T, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const stop = new AbortController();
  const anySignal = AbortSignal.any([signal, stop.signal]);
  const rest = items[Symbol.iterator]();
  const run = async (): Promise<void> => {
    for (let next = rest.next(); !next.done && !stop.signal.aborted; next = rest.next())
      await work(next.value, anySignal).catch((error: unknown) => stop.abort(error));
  };
  await Promise.all(Array.from({ length: concurrency }, run));
  stop.signal.throwIfAborted();
}

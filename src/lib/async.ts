/** Abort signals, concurrency, pauses, backoff and retries. */
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

/** A pause that `wake` ends early. A wake between two pauses ends the next one at once, so that none is lost. */
export class WakeablePause {
  private awake = new AbortController();

  wake(): void {
    this.awake.abort();
  }

  /** Resolves after `ms`, or when `wake` is called or the signal aborts. */
  async wait(ms: number, signal?: AbortSignal): Promise<void> {
    const unlink = signal && abortWith(this.awake, signal);
    await pause(ms, this.awake.signal);
    unlink?.();
    if (this.awake.signal.aborted) this.awake = new AbortController();
  }
}

export interface RetryOptions {
  /** Shortest and longest wait, milliseconds: see backoffMs. */
  firstMs: number;
  longestMs: number;
  signal: AbortSignal;
  /** Called after each failed attempt; `failures` in a row, 1 = first. Throw to give up. */
  onFailure(error: unknown, failures: number, waitMs: number): void;
  /** An attempt that lasted this long worked meanwhile: its failure counts as the first. Default: none. */
  steadyMs?: number;
  /** Waits between attempts. Default: `pause`. */
  wait?(ms: number): Promise<void>;
}

/**
 * The result of the first attempt that succeeds; undefined when the signal aborts first, also when an attempt fails
 * after that.
 */
export async function retry<T>(
  attempt: () => T | Promise<T>,
  { firstMs, longestMs, signal, onFailure, steadyMs = Infinity, wait }: RetryOptions,
): Promise<T | undefined> {
  for (let failures = 0; !signal.aborted; ) {
    const startedAt = performance.now();
    try {
      return await attempt();
    } catch (error) {
      if (signal.aborted) return undefined;
      failures = performance.now() - startedAt >= steadyMs ? 1 : failures + 1;
      const waitMs = backoffMs(failures, firstMs, longestMs);
      onFailure(error, failures, waitMs);
      await (wait ?? ((ms) => pause(ms, signal)))(waitMs);
    }
  }
  return undefined;
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

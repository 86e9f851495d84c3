import { setTimeout as sleep } from 'node:timers/promises';

/** How long a test waits for something due at once, milliseconds. The machine may have other work, or be slow. */
export const WAIT_TIMEOUT_MS = 120_000;

export interface WaitOptions {
  /** The awaited condition, for the error message. */
  what: string;
  /** Default: WAIT_TIMEOUT_MS. */
  timeoutMs?: number;
  everyMs?: number;
}

/**
 * Resolves with the first truthy value of `probe`, polled; rejects naming `what` after the time limit. Errors of
 * `probe` count as "not yet" and are shown at the end.
 */
export async function waitFor<T>(probe: () => T | Promise<T>, options: WaitOptions): Promise<NonNullable<T>> {
  const deadline = performance.now() + (options.timeoutMs ?? WAIT_TIMEOUT_MS);
  let last: unknown;
  for (;;) {
    try {
      const value = await probe();
      if (value) return value;
      last = value;
    } catch (error) {
      last = error;
    }
    if (performance.now() > deadline)
      throw new Error(`timed out waiting for ${options.what}; last: ${String(last)}`);
    await sleep(options.everyMs ?? 25);
  }
}

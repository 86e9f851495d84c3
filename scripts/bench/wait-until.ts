import { setTimeout as sleep } from 'node:timers/promises';
import { FatalError } from '../../src/lib/errors.ts';

export interface WaitOptions {
  /** The awaited condition, for the error message. */
  what: string;
  timeoutMs: number;
  everyMs: number;
}

/** Polls `probe` and resolves with its first non-null value. Throws FatalError after the time limit. */
export async function waitUntil<T>(
  probe: () => T | Promise<T>,
  options: WaitOptions,
): Promise<NonNullable<T>> {
  const deadline = performance.now() + options.timeoutMs;
  for (;;) {
    const value = await probe();
    if (value !== null && value !== undefined) return value;
    if (performance.now() > deadline) throw new FatalError(`timed out waiting for ${options.what}`);
    await sleep(options.everyMs);
  }
}

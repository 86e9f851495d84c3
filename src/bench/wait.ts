import { setTimeout as sleep } from 'node:timers/promises';
import { FatalError } from '../errors.ts';

export interface WaitOptions {
  /** What is waited for; becomes the error message. */
  what: string;
  timeoutMs: number;
  everyMs: number;
}

/** Resolves with the first value of `probe` that is not null, asked again and again. Throws FatalError past the time limit. */
export async function until<T>(probe: () => T | Promise<T>, options: WaitOptions): Promise<NonNullable<T>> {
  const deadline = performance.now() + options.timeoutMs;
  for (;;) {
    const value = await probe();
    if (value !== null && value !== undefined) return value;
    if (performance.now() > deadline) throw new FatalError(`waited in vain for ${options.what}`);
    await sleep(options.everyMs);
  }
}

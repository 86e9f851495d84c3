/** Waiting between retries. */
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Milliseconds to wait before retry `attempt` (1 = first): doubling from `base` to `max`, minus up to 20 % at random so
 * that clients do not retry in step.
 */
export function backoffMs(attempt: number, base: number, max: number): number {
  const full = Math.min(max, base * 2 ** Math.min(attempt - 1, 30));
  return Math.round(full * (0.8 + Math.random() * 0.2));
}

/** Resolves after `ms`, or at once (without error) when the signal aborts. */
export async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted) return;
  await sleep(ms, undefined, { signal }).catch(() => undefined);
}

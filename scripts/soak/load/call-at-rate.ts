/** Calls at a fixed rate, whether or not previous ones are answered. */
import { setTimeout as sleep } from 'node:timers/promises';

/** Interval between two readings of the clock, milliseconds. */
const TICK_MS = 10;

/** The outcome of the calls. */
export interface CallCounts {
  admitted: number;
  refused: number;
  /** Milliseconds that each admitted call took. */
  latencies: number[];
}

/**
 * Makes `perSecond` calls per second until `signal` aborts, and resolves when all are answered. `call` returns whether
 * it was admitted; it must not reject.
 */
export async function callAtRate(
  perSecond: number,
  call: () => Promise<boolean>,
  signal: AbortSignal,
): Promise<CallCounts> {
  const counts: CallCounts = { admitted: 0, refused: 0, latencies: [] };
  const inFlight = new Set<Promise<void>>();
  const one = async (): Promise<void> => {
    const calledAt = performance.now();
    if (!(await call())) {
      counts.refused++;
      return;
    }
    counts.admitted++;
    counts.latencies.push(performance.now() - calledAt);
  };
  const startedAt = performance.now();
  let made = 0;
  while (!signal.aborted) {
    const due = ((performance.now() - startedAt) / 1000) * perSecond;
    for (; made < due; made++) {
      const calling = one().finally(() => inFlight.delete(calling));
      inFlight.add(calling);
    }
    await sleep(TICK_MS);
  }
  await Promise.all(inFlight);
  return counts;
}

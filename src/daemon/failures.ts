/** Reports the unexpected errors that the guards of lib/guard.ts catch on the serving thread. */
import type { CleanupStack } from '../lib/cleanup-stack.ts';
import { type FailureReporter, reportFailuresTo } from '../lib/guard.ts';
import { RepeatLimit } from '../lib/limits.ts';
import type { Logger } from '../log/logger.ts';
import type { Metrics } from '../metrics/metrics.ts';

/** Shortest time between two lines about the same place, milliseconds. Clients may cause errors at any rate. */
const LOG_MS = 10_000;

/** Counts every caught error and logs it, until the daemon is closed. */
export function reportCaughtErrors(
  metrics: Pick<Metrics, 'caughtErrors'>,
  log: Pick<Logger, 'error'>,
  closers: CleanupStack,
): void {
  const logLimit = new RepeatLimit(LOG_MS);
  const report: FailureReporter = (place, error) => {
    metrics.caughtErrors.inc({ place });
    if (logLimit.allows(place))
      log.error({ err: error, place }, 'caught an unexpected error; please report it');
  };
  reportFailuresTo(report);
  closers.adopt(report, () => reportFailuresTo());
}

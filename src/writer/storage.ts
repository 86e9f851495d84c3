/** Writing to a disk that may be full or failing. */
import { backoffMs, pause } from '../lib/backoff.ts';

const RETRY_MIN_MS = 1_000;
const RETRY_MAX_MS = 10_000;

/** SQLite's codes for trouble that can pass: no room, input/output errors, a read-only or busy file. */
const PASSING = /^SQLITE_(FULL|IOERR|READONLY|BUSY|CANTOPEN)/;

/**
 * Runs a write transaction until it succeeds. A failed one left nothing behind, so it can simply be run again;
 * `onTrouble` is told why each try failed. Gives up, returning false, when the signal aborts; any other error is thrown.
 */
export async function untilStored(
  write: () => void,
  onTrouble: (message: string) => void,
  signal: AbortSignal,
): Promise<boolean> {
  for (let attempt = 1; !signal.aborted; attempt++) {
    try {
      write();
      return true;
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && PASSING.test(String(error.code)))) throw error;
      onTrouble(
        `the index cannot be written (${error.message}); make room or mend the disk, indexing goes on by itself`,
      );
      await pause(backoffMs(attempt, RETRY_MIN_MS, RETRY_MAX_MS), signal);
    }
  }
  return false;
}

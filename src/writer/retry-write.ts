/** Going on when the disk is full, fails, or the index file is gone. */
import { StorageError } from '../errors.ts';
import { backoffMs, pause } from '../lib/backoff.ts';

/** Shortest and longest wait before a failed write is tried again, milliseconds. */
const RETRY_MIN_MS = 500;
const RETRY_MAX_MS = 10_000;

/**
 * Retries a write until it succeeds; a failed one has changed nothing. `onFailure` is called with the error of each
 * failed try, and with null when one succeeds after that. Returns false when the signal aborts; throws any other error
 * than StorageError.
 */
export async function retryWrite(
  write: () => void,
  onFailure: (error: StorageError | null, retryInMs: number) => void,
  signal: AbortSignal,
): Promise<boolean> {
  for (let attempt = 1; !signal.aborted; attempt++) {
    try {
      write();
      if (attempt > 1) onFailure(null, 0);
      return true;
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
      const wait = backoffMs(attempt, RETRY_MIN_MS, RETRY_MAX_MS);
      onFailure(error, wait);
      await pause(wait, signal);
    }
  }
  return false;
}

/** Background work that runs forever, whatever the node and the disk do. */

import { backoffMs, pause } from '../lib/async.ts';
import { DamagedFileError, StorageError, UpstreamError } from '../lib/errors.ts';
import type { ThreadLog } from '../log/logger.ts';

/** Backoff while the node or the disk fails, milliseconds. */
const RETRY_MIN_MS = 1_000;
const RETRY_MAX_MS = 60_000;

interface LoopOptions {
  /** Name of the work in the log. */
  name: string;
  /** Pause after a step that found nothing to do, milliseconds. */
  idleMs: number;
  /**
   * Shortest pause after a step, milliseconds. The pause also equals at least the step's duration, so that the work
   * takes at most half the time.
   */
  minPauseMs: number;
  /** Gets a line when the work starts to fail and when it succeeds again, not for every attempt. */
  log: ThreadLog;
  /** Called whenever a step finds damage in the index. */
  onDamage?: ((error: DamagedFileError) => void) | undefined;
}

/**
 * Runs steps one after another. Backs off when the node or the disk fails, and on damage. `step` returns whether there
 * was anything to do. Resolves when the signal aborts; rejects only for a bug.
 */
export async function runBackgroundLoop(
  step: () => Promise<boolean>,
  { name, idleMs, minPauseMs, log, onDamage }: LoopOptions,
  signal: AbortSignal,
): Promise<void> {
  for (let failures = 0; !signal.aborted; ) {
    const startedAt = performance.now();
    try {
      const worked = await step();
      if (worked && failures > 1) log.info({ work: name }, 'background work resumes');
      if (worked) failures = 0; // a step without work proves nothing
      await pause(worked ? Math.max(minPauseMs, performance.now() - startedAt) : idleMs, signal);
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof DamagedFileError) onDamage?.(error);
      else if (!(error instanceof UpstreamError || error instanceof StorageError)) throw error;
      failures++;
      // A single failure is normal, because the chain may change while the node is read.
      if (failures === 2) log.warn({ work: name, reason: error.message }, 'background work fails; retrying');
      await pause(backoffMs(failures, RETRY_MIN_MS, RETRY_MAX_MS), signal);
    }
  }
}

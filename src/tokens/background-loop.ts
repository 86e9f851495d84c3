/** Work that runs in the background for ever, whatever the node and the disk do. */

import { backoffMs, pause } from '../lib/async.ts';
import { DamagedFileError, StorageError, UpstreamError } from '../lib/errors.ts';
import type { ThreadLog } from '../log/logger.ts';

/** Shortest and longest wait between retries while the node does not answer or the disk refuses writes, milliseconds. */
const RETRY_MIN_MS = 1_000;
const RETRY_MAX_MS = 60_000;

export interface LoopOptions {
  /** The work by name, for the log. */
  name: string;
  /** Between two steps when there is nothing to do, milliseconds. */
  idleMs: number;
  /** Shortest pause after a step. Otherwise the pause is as long as the step, so that at most half the time is used. */
  minPauseMs: number;
  /** Gets a line when the work begins to fail and when it succeeds again, not for every try. */
  log: ThreadLog;
  /** Called each time that the index proves to be damaged. */
  onDamage?: ((error: DamagedFileError) => void) | undefined;
}

/**
 * Runs one step after another, with growing pauses after failures of the node or the disk, and damage. `step` returns
 * whether there was anything to do. Resolves when the signal aborts; rejects for a defect.
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
      if (worked && failures > 1) log.info({ work: name }, 'background work goes on');
      if (worked) failures = 0; // a step without work proves nothing
      await pause(worked ? Math.max(minPauseMs, performance.now() - startedAt) : idleMs, signal);
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof DamagedFileError) onDamage?.(error);
      else if (!(error instanceof UpstreamError || error instanceof StorageError)) throw error;
      failures++;
      // A single failure is normal: the chain may change while the node is read.
      if (failures === 2)
        log.warn({ work: name, reason: error.message }, 'background work fails and is tried again');
      await pause(backoffMs(failures, RETRY_MIN_MS, RETRY_MAX_MS), signal);
    }
  }
}

/** Work that goes on in the background for ever, whatever node and disk do. */
import { StorageError, UpstreamError } from '../errors.ts';
import { backoffMs, pause } from '../lib/backoff.ts';
import type { Send } from './protocol.ts';

/** Between two tries while the node does not answer or the disk does not take it, milliseconds. */
const RETRY_MIN_MS = 1_000;
const RETRY_MAX_MS = 60_000;

export interface LoopOptions {
  /** The work by name, for the log. */
  work: string;
  /** Between two steps when there is nothing to do, milliseconds. */
  idleMs: number;
  /** The pause behind a step is as long as it took, so that half the time is used at most, and no shorter than this. */
  minPauseMs: number;
  /** Told when the work begins to fail, and when it is done again; not of every try. */
  send: Send;
}

/**
 * Takes one step after the other, longer pauses between those that fail because of node or disk. `step` says whether
 * there was anything to do. Resolves when the signal aborts, rejects only for a defect.
 */
export async function loop(
  step: () => Promise<boolean>,
  { work, idleMs, minPauseMs, send }: LoopOptions,
  signal: AbortSignal,
): Promise<void> {
  for (let failures = 0; !signal.aborted; ) {
    const began = performance.now();
    try {
      const worked = await step();
      if (worked && failures > 1)
        send({ kind: 'log', level: 'info', msg: 'background work goes on', facts: { work } });
      if (worked) failures = 0; // a step without work proves nothing
      await pause(worked ? Math.max(minPauseMs, performance.now() - began) : idleMs, signal);
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof UpstreamError || error instanceof StorageError)) throw error;
      failures++;
      // Once is nothing: the chain may change while the node is asked.
      if (failures === 2) {
        const facts = { work, reason: error.message };
        send({ kind: 'log', level: 'warn', msg: 'background work fails and is tried again', facts });
      }
      await pause(backoffMs(failures, RETRY_MIN_MS, RETRY_MAX_MS), signal);
    }
  }
}

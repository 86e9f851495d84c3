/** Ends a thread within a time limit, whatever it waits for. */
import type { Worker } from 'node:worker_threads';
import { pause } from '../lib/async.ts';

/** Longest time for a thread to end by itself, milliseconds: the process has 10 s. */
export const THREAD_STOP_MS = 8_000;

/**
 * Longest wait for a terminated thread, milliseconds. It is longer only where the thread is inside a system call that
 * nothing interrupts, such as a lookup at a silent name server; the process then leaves without it.
 */
const TERMINATE_MS = 500;

/**
 * Resolves when the thread, which has been told to stop, has ended. Terminates it after `limitMs`. Never rejects.
 * The thread must not have ended before the call. Returns whether it ended by itself.
 */
export async function endThread(
  thread: Pick<Worker, 'once' | 'off' | 'terminate'>,
  limitMs: number,
): Promise<boolean> {
  const ended = new AbortController();
  const onExit = () => ended.abort();
  thread.once('exit', onExit);
  try {
    if (limitMs > 0) await pause(limitMs, ended.signal);
    if (ended.signal.aborted) return true;
    thread.terminate().catch(() => undefined); // resolves with the exit
    await pause(TERMINATE_MS, ended.signal);
    return false;
  } finally {
    thread.off('exit', onExit);
  }
}

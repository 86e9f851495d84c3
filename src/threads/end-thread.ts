/** Ends a thread within a time limit, whatever it waits for. */
import { setTimeout as sleep } from 'node:timers/promises';

/** Longest time for a thread to end by itself, milliseconds: the process has 10 s. */
export const THREAD_STOP_MS = 8_000;

/**
 * Longest wait for a terminated thread, milliseconds. It is longer only where the thread is inside a system call that
 * nothing interrupts, such as a lookup at a silent name server; the process then leaves without it.
 */
const TERMINATE_MS = 500;

/** The subset of Worker used here. */
interface EndingThread {
  once(event: 'exit', listener: () => void): unknown;
  off(event: 'exit', listener: () => void): unknown;
  terminate(): Promise<unknown>;
}

/**
 * Resolves when the thread, which has been told to stop, has ended. Terminates it after `limitMs`. Never rejects.
 * The thread must not have ended before the call.
 */
export async function endThread(thread: EndingThread, limitMs: number = THREAD_STOP_MS): Promise<void> {
  const late = new AbortController();
  const ended = Promise.withResolvers<void>();
  thread.once('exit', ended.resolve);
  const limit = async (ms: number) => sleep(ms, undefined, { signal: late.signal }).catch(() => undefined);
  try {
    if (await Promise.race([ended.promise.then(() => true), limit(limitMs)])) return;
    thread.terminate().catch(() => undefined); // resolves with the exit
    await Promise.race([ended.promise, limit(TERMINATE_MS)]);
  } finally {
    late.abort();
    thread.off('exit', ended.resolve);
  }
}

/** Priorities of threads. */
import { existsSync, readlinkSync } from 'node:fs';
import { constants, getPriority, setPriority } from 'node:os';

/** Links to the folder of the calling thread, named after its id. Linux only. */
const THREAD_SELF = '/proc/thread-self';

/**
 * Adds to the niceness of the calling thread, so that the serving thread runs first when there are more threads than
 * processors. On Linux each thread has its own priority; elsewhere it belongs to the process, and nothing changes.
 */
export function lowerThreadPriority(by: number): void {
  if (!existsSync(THREAD_SELF)) return;
  const id = Number(readlinkSync(THREAD_SELF).split('/').at(-1));
  setPriority(id, Math.min(getPriority(id) + by, constants.priority.PRIORITY_LOW));
}

/** Thread priorities. */
import { existsSync, readlinkSync } from 'node:fs';
import { constants, getPriority, setPriority } from 'node:os';

/** Links to the calling thread's folder, named after its id. Linux only. */
const THREAD_SELF = '/proc/thread-self';

/**
 * Adds to the niceness of the calling thread, so that the serving thread runs first when threads outnumber processors.
 * On Linux each thread has its own priority; elsewhere priority belongs to the process, and this does nothing.
 */
export function lowerThreadPriority(by: number): void {
  if (!existsSync(THREAD_SELF)) return;
  const id = Number(readlinkSync(THREAD_SELF).split('/').at(-1));
  setPriority(id, Math.min(getPriority(id) + by, constants.priority.PRIORITY_LOW));
}

/** How threads share the processor with each other. */
import { existsSync, readlinkSync } from 'node:fs';
import { constants, getPriority, setPriority } from 'node:os';

/** A link to the calling thread's folder, whose name is the thread's id. Only Linux has it. */
const THREAD_SELF = '/proc/thread-self';

/**
 * Adds to the niceness of the calling thread, so that it yields to the others when there are more threads than
 * processors. On Linux a priority belongs to a thread, so the serving thread runs first while an index is filled;
 * elsewhere it belongs to the process, and nothing is changed.
 */
export function lowerThreadPriority(by: number): void {
  if (!existsSync(THREAD_SELF)) return;
  const id = Number(readlinkSync(THREAD_SELF).split('/').at(-1));
  setPriority(id, Math.min(getPriority(id) + by, constants.priority.PRIORITY_LOW));
}

/** Starting the threads of this folder. */
import type { Worker } from 'node:worker_threads';
import { newThread } from '../lib/thread.ts';
import { type ThreadName, threadCode } from './thread-code.ts';

/**
 * Young generations other than the default, MB. The writer's data for a commit outlives several collections: with 8 MB it
 * would be copied twice as often, and filling would take a tenth longer; 16 MB are not faster. The checkpoint thread
 * allocates next to nothing.
 */
const YOUNG_MB: Partial<Record<ThreadName, number>> = { writer: 12, checkpoint: 2 };

export function startThread(name: ThreadName, workerData: unknown): Worker {
  return newThread(name, threadCode(name), workerData, YOUNG_MB[name]);
}

/** The one place that starts threads. */
import { Worker } from 'node:worker_threads';
import { type ThreadName, threadCode } from './threads.ts';

/** Starts a thread. Its young generation is bounded: short-lived JSON would otherwise let it grow without need. */
export function startThread(name: ThreadName, workerData: unknown): Worker {
  const { source, ...options } = threadCode(name);
  return new Worker(source, {
    ...options,
    workerData,
    name,
    resourceLimits: { maxYoungGenerationSizeMb: 16, maxOldGenerationSizeMb: 256 },
  });
}

/** Starting threads. Which there are, and where their code is, stands in a table of each folder that has some. */
import { Worker } from 'node:worker_threads';

/** What `new Worker` takes: the address of a file, or a script to be evaluated. */
export type ThreadCode = { source: URL } | { source: string; eval: true };

/** Starts a thread. Its young generation is bounded: short-lived JSON would otherwise let it grow without need. */
export function newThread(name: string, code: ThreadCode, workerData: unknown): Worker {
  const { source, ...options } = code;
  return new Worker(source, {
    ...options,
    workerData,
    name,
    resourceLimits: { maxYoungGenerationSizeMb: 16, maxOldGenerationSizeMb: 256 },
  });
}

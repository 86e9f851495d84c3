/** Starting threads. Which there are, and where their code is, stands in a table of each folder that has some. */
import { setFlagsFromString } from 'node:v8';
import { Worker } from 'node:worker_threads';

/** What `new Worker` takes: the address of a file, or a script to be evaluated. */
export type ThreadCode = { source: URL } | { source: string; eval: true };

/** Young generation of a thread, MB. What is short-lived, such as JSON, would otherwise let it grow without need. */
const YOUNG_MB = 8;

/** Starts a thread. */
export function newThread(name: string, code: ThreadCode, workerData: unknown, youngMb = YOUNG_MB): Worker {
  // The launcher's bound is for the serving thread, and would come before the one given here: filling takes a tenth longer.
  setFlagsFromString('--max-semi-space-size=0');
  const { source, ...options } = code;
  return new Worker(source, {
    ...options,
    workerData,
    name,
    resourceLimits: { maxYoungGenerationSizeMb: youngMb, maxOldGenerationSizeMb: 256 },
  });
}

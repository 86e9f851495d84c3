/** The one place that starts threads. */
import { Worker } from 'node:worker_threads';

/** Thread entries by name; the single binary replaces this table by embedded sources. */
const ENTRIES = {
  writer: new URL('./writer-thread.ts', import.meta.url),
  loader: new URL('./loader-thread.ts', import.meta.url),
  survey: new URL('../query/survey-thread.ts', import.meta.url),
};

/** Starts a thread. Its young generation is bounded: short-lived JSON would otherwise let it grow without need. */
export function startThread(entry: keyof typeof ENTRIES, workerData: unknown): Worker {
  return new Worker(ENTRIES[entry], {
    workerData,
    name: entry,
    resourceLimits: { maxYoungGenerationSizeMb: 16, maxOldGenerationSizeMb: 256 },
  });
}

/** Starting threads. Each folder with threads has a table of them and of their code. */
import { setFlagsFromString } from 'node:v8';
import { Worker } from 'node:worker_threads';
import { FatalError } from '../errors.ts';
import { codeOf, messageOf } from './error-text.ts';

/** What `new Worker` takes: the address of a file, or a script to be evaluated. */
export type ThreadCode = { source: URL } | { source: string; eval: true };

/** Young generation of a thread, MB. Without a limit short-lived data such as JSON would let it grow needlessly. */
const YOUNG_MB = 8;

/** Starts a thread. Throws FatalError when the system has no room for it. */
export function newThread(name: string, code: ThreadCode, workerData: unknown, youngMb = YOUNG_MB): Worker {
  // The launcher's limit is for the serving thread and would override this one: filling would take a tenth longer.
  setFlagsFromString('--max-semi-space-size=0');
  const { source, ...options } = code;
  const resourceLimits = { maxYoungGenerationSizeMb: youngMb, maxOldGenerationSizeMb: 256 };
  try {
    return new Worker(source, { ...options, workerData, name, resourceLimits });
  } catch (error) {
    if (codeOf(error) !== 'EAGAIN' && messageOf(error) !== 'EAGAIN') throw error;
    throw new FatalError(
      `the system gives no ${name} thread: raise the limits of threads and memory (ulimit -u and -v, TasksMax= and MemoryMax= of systemd)`,
      { cause: error },
    );
  }
}

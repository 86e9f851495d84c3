/** Starts the program's threads, each with its own heap limits. */
import { setFlagsFromString } from 'node:v8';
import { Worker } from 'node:worker_threads';
import { codeOf, FatalError, messageOf } from '../lib/errors.ts';
import { type ThreadCode, type ThreadName, threadCode } from './entries.ts';
import type { StartData } from './messages.ts';

/** Young generation, MB. Without a limit, short-lived data such as JSON would let it grow needlessly. */
const DEFAULT_YOUNG_MB = 8;

/**
 * A commit's data survives several collections in the indexer: 8 MB would copy it twice as often and slow a backfill by
 * a tenth; 16 MB is no faster. The checkpoint thread allocates almost nothing.
 */
const YOUNG_MB: Partial<Record<ThreadName, number>> = { indexer: 12, checkpoint: 2 };

const OLD_MB = 256;

/** Throws FatalError when the system refuses another thread. Tests give the code of a thread of their own. */
export function startThread(
  name: ThreadName,
  workerData: StartData<unknown>,
  { source, ...options }: ThreadCode = threadCode(name),
): Worker {
  // The launcher's limit is for the serving thread and would override this one, slowing a backfill by a tenth.
  setFlagsFromString('--max-semi-space-size=0');
  const resourceLimits = {
    maxYoungGenerationSizeMb: YOUNG_MB[name] ?? DEFAULT_YOUNG_MB,
    maxOldGenerationSizeMb: OLD_MB,
  };
  try {
    return new Worker(source, { ...options, workerData, name, resourceLimits });
  } catch (error) {
    if (codeOf(error) !== 'EAGAIN' && messageOf(error) !== 'EAGAIN') throw error;
    throw new FatalError(
      `the system refuses to start the ${name} thread: raise its limits on threads and memory (ulimit -u ` +
        'and -v, TasksMax= and MemoryMax= in systemd)',
      { cause: error },
    );
  }
}

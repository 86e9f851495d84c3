/** The threads of this folder. */
import type { Worker } from 'node:worker_threads';
import { newThread } from '../lib/thread.ts';
import { type ThreadName, threadCode } from './threads.ts';

export function startThread(name: ThreadName, workerData: unknown): Worker {
  return newThread(name, threadCode(name), workerData);
}

/** Starting the threads of this folder. */
import type { Worker } from 'node:worker_threads';
import { newThread } from '../lib/thread.ts';
import type { ReaderOptions } from './reader-protocol.ts';
import { threadCode } from './thread-code.ts';

/** Starts a read thread. */
export function startReader(options: ReaderOptions): Worker {
  return newThread('reader', threadCode('reader'), options);
}

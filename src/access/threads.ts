/** Starting the threads of this folder. */
import type { Worker } from 'node:worker_threads';
import { newThread } from '../lib/thread.ts';
import { threadCode } from './thread-code.ts';

/** Starts a thread that makes one checkpoint of the keys file at `path` and ends. */
export function startKeysCheckpointThread(path: string): Worker {
  return newThread('keys-checkpoint', threadCode('keys-checkpoint'), path);
}

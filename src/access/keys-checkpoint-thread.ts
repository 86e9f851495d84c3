/** Thread entry: checkpoints `keys.db` once and exits. */
import { parentPort, workerData } from 'node:worker_threads';
import { lowerThreadPriority } from '../lib/thread.ts';
import { checkpointWal } from './keys-checkpointer.ts';
import { openKeysFile } from './keys-file.ts';

const path: unknown = workerData;
if (parentPort === null || typeof path !== 'string') {
  throw new Error('keys-checkpoint-thread is a thread entry; it cannot run on its own');
}
lowerThreadPriority(5);
const db = openKeysFile(path);
try {
  checkpointWal(db);
} finally {
  db.close();
}

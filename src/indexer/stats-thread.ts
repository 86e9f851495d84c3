/** Entry point of the index-stats thread: measures the index once and exits. */
import { parentPort, workerData } from 'node:worker_threads';
import { lowerThreadPriority } from '../lib/thread.ts';
import { openIndexForReading } from '../store/index-file.ts';
import { measureIndex } from '../store/index-stats.ts';

const path: unknown = workerData;
if (parentPort === null || typeof path !== 'string') {
  throw new Error('stats-thread is a thread entry; it cannot run on its own');
}
lowerThreadPriority(10);
const db = openIndexForReading(path);
try {
  parentPort.postMessage(measureIndex(db, path));
} finally {
  db.close();
}

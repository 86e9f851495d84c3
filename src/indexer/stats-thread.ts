/** Entry of the thread that surveys the index once and ends. */
import { parentPort, workerData } from 'node:worker_threads';
import { lowerThreadPriority } from '../lib/thread.ts';
import { openIndexForReading } from '../store/index-file.ts';
import { measureIndex } from '../store/index-stats.ts';

const path: unknown = workerData;
if (parentPort === null || typeof path !== 'string') {
  throw new Error('survey-thread is a thread entry and cannot be run by itself');
}
lowerThreadPriority(10);
const db = openIndexForReading(path);
try {
  parentPort.postMessage(measureIndex(db, path));
} finally {
  db.close();
}

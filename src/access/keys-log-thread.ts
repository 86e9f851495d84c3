/** Entry of the thread that makes one checkpoint of `keys.db` and ends. */
import { parentPort, workerData } from 'node:worker_threads';
import { giveWay } from '../lib/priority.ts';
import { openKeysFile } from './keys-file.ts';
import { moveLog } from './keys-log.ts';

const path: unknown = workerData;
if (parentPort === null || typeof path !== 'string') {
  throw new Error('keys-log-thread is a thread entry and cannot be run by itself');
}
giveWay(5);
const db = openKeysFile(path);
try {
  moveLog(db);
} finally {
  db.close();
}

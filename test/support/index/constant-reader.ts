/** A thread that reads a database in back-to-back transactions of this many milliseconds, until it is told to stop. */
import { parentPort, workerData } from 'node:worker_threads';
import { openDatabase } from '../../../src/store/open-database.ts';

/** Turns between two checks for a message. */
const TURNS = 20;

const { path, sql, readMs } = workerData as { path: string; sql: string; readMs: number };
const db = openDatabase(path, { readonly: true });
const read = db.prepare(sql);
let stopped = false;

function turns(): void {
  for (let i = 0; i < TURNS; i++) {
    db.exec('BEGIN');
    read.get();
    for (const until = performance.now() + readMs; performance.now() < until; ) read.get();
    db.exec('COMMIT');
  }
  if (stopped) db.close();
  else setImmediate(turns);
}

parentPort?.once('message', () => {
  stopped = true;
});
parentPort?.postMessage('reading');
turns();

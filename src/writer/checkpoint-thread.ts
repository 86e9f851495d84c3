/** Entry of the thread that moves the write-ahead log into the file while the writer prepares the next commit. */
import { parentPort, workerData } from 'node:worker_threads';
import { giveWay } from '../lib/priority.ts';
import { Checkpointer } from '../store/checkpoint.ts';
import type { FromCheckpointer, ToCheckpointer } from './protocol.ts';

function main(): void {
  const port = parentPort;
  if (port === null || typeof workerData !== 'string') {
    throw new Error('checkpoint-thread is a thread entry and cannot be run by itself');
  }
  giveWay(5);
  const checkpointer = new Checkpointer(workerData);
  let moving = Promise.resolve();
  port.on('message', async (message: ToCheckpointer) => {
    if (message === 'stop') {
      await moving;
      checkpointer.close();
      port.close();
      return;
    }
    moving = checkpointer.moveLog();
    await moving;
    port.postMessage('moved' satisfies FromCheckpointer);
  });
}

main();

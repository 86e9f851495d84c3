/** Entry point of the checkpoint thread: moves the WAL into the file while the indexer prepares the next commit. */
import { parentPort, workerData } from 'node:worker_threads';
import { lowerThreadPriority } from '../lib/thread.ts';
import { Checkpointer } from '../store/wal.ts';
import type { FromCheckpointer, ToCheckpointer } from './protocol.ts';

function main(): void {
  const port = parentPort;
  if (port === null || typeof workerData !== 'string') {
    throw new Error('checkpoint-thread is a thread entry; it cannot run on its own');
  }
  lowerThreadPriority(5);
  const checkpointer = new Checkpointer(workerData);
  let checkpoint = Promise.resolve();
  port.on('message', async (message: ToCheckpointer) => {
    if (message === 'stop') {
      await checkpoint;
      checkpointer.close();
      port.close();
      return;
    }
    checkpoint = checkpointer.checkpointWal();
    await checkpoint;
    port.postMessage('checkpointed' satisfies FromCheckpointer);
  });
}

main();

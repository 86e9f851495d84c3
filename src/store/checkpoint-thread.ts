/** Entry point of a checkpoint thread: moves the WAL of a file into it at each message. */
import { thread } from '../threads/thread.ts';
import type { CheckpointOptions } from './checkpoint-client.ts';
import { Checkpointer } from './checkpointer.ts';

export default thread<CheckpointOptions, 'checkpoint', 'checkpointed'>(
  { niceness: 5 },
  async ({ path, emptiesWal }, { onMessage, post, stopped }) => {
    const checkpointer = new Checkpointer(path);
    const run = async (): Promise<void> => {
      if (emptiesWal) checkpointer.emptyWal();
      else await checkpointer.checkpointWal();
      post('checkpointed');
    };
    let running = Promise.resolve();
    onMessage(() => {
      running = run();
    });
    await stopped;
    await running;
    checkpointer.close();
  },
);

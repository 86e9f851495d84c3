/** A thread that misbehaves in the way that its data names. It poses as the checkpoint thread, for its types. */
import type { CheckpointOptions } from '../../../src/store/checkpoint-client.ts';
import { thread } from '../../../src/threads/thread.ts';

export default thread<CheckpointOptions, 'checkpoint', 'checkpointed'>(
  {},
  async ({ path: behaviour }, { onMessage, post, log, stopped, mustStop }) => {
    log.info({ behaviour }, 'the thread runs');
    onMessage(() => {
      if (behaviour === 'fails at a message') throw new Error('a defect');
      post('checkpointed');
      if (behaviour === 'is busy') while (!mustStop()) Math.sqrt(2);
      if (behaviour === 'hangs busily') for (;;) Math.sqrt(2);
    });
    if (behaviour === 'fails') {
      post('checkpointed');
      throw Object.assign(new Error('the disk is gone'), { name: 'FatalError' });
    }
    if (behaviour === 'ends') return;
    if (behaviour === 'ignores a stop') await new Promise(() => setInterval(() => undefined, 1_000));
    await stopped;
    log.info({}, 'the thread ends');
  },
);

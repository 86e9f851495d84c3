/** A worker's own side: runs actions on request until the benchmarking process is gone. */
import { messageOf } from '../../../src/lib/errors.ts';
import type { Actions, WorkerRequest, WorkerResponse } from './protocol.ts';

export function serveWorker(actions: Actions): void {
  // Ctrl-C reaches every process of the terminal. The benchmarking process ends its workers cleanly.
  process.on('SIGINT', () => undefined);
  process.once('disconnect', () => process.exit(0));
  process.on('message', (message: WorkerRequest) => void answer(actions, message));
}

async function answer(actions: Actions, { id, action, argument }: WorkerRequest): Promise<void> {
  try {
    const run = actions[action];
    if (run === undefined) throw new Error(`there is no action "${action}"`);
    // The other side runs this same program, so the argument has the action's type.
    reply({ id, result: await run(argument as never) });
  } catch (error) {
    reply({ id, error: messageOf(error) });
  }
}

function reply(message: WorkerResponse): void {
  // A send fails only when the parent is gone, and then `disconnect` follows.
  process.send?.(message, undefined, undefined, () => undefined);
}

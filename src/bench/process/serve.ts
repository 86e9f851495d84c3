/** The side of a part: does what it is asked to until the benchmarking process is gone. */
import { messageOf } from '../../lib/error-text.ts';
import type { Actions, FromPart, ToPart } from './protocol.ts';

export function servePart(actions: Actions): void {
  // Ctrl-C reaches every process of the terminal; the benchmarking one then ends its parts in order.
  process.on('SIGINT', () => undefined);
  process.once('disconnect', () => process.exit(0));
  process.on('message', (message: ToPart) => void answer(actions, message));
}

async function answer(actions: Actions, { id, action, argument }: ToPart): Promise<void> {
  try {
    const run = actions[action];
    if (run === undefined) throw new Error(`there is no action "${action}"`);
    // The other side is of this very program, so that the argument is of the action's type.
    reply({ id, result: await run(argument as never) });
  } catch (error) {
    reply({ id, error: messageOf(error) });
  }
}

function reply(message: FromPart): void {
  // What cannot be sent nobody waits for any more: `disconnect` follows.
  process.send?.(message, undefined, undefined, () => undefined);
}

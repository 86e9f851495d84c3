/** Errors of what a command prints: its reader may leave early, and the disk that it goes to may be full. */
import { FatalError } from '../errors.ts';

let isOutputRequired = true;
/** Why some output could not be written, such as ENOSPC. */
let writeError: string | undefined;
let readerLeft = false;

/**
 * Keeps output that cannot be written from ending the program with a stack trace. `atlas-node config show | head` is no
 * failure, and neither is a terminal that was closed (EIO): the signal that comes with it ends the program properly.
 * A command goes on without its reader: a backup must still become whole, and a verification tell by its exit code.
 */
export function handleOutputErrors(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (!isOutputRequired || error.code === 'EIO') return;
    if (error.code === 'EPIPE') readerLeft = true;
    else writeError = error.code ?? error.message;
  });
  process.stderr.on('error', () => undefined); // nobody is left to tell
}

/** Whether nobody reads the output any more: what only prints, without an end of its own, can stop. */
export function hasReaderLeft(): boolean {
  return readerLeft;
}

/** From here on, output that cannot be written is no failure: the program is a daemon. */
export function ignoreOutputErrors(): void {
  isOutputRequired = false;
}

/** Throws FatalError when some of what was printed so far could not be written. */
export async function assertOutputWritten(): Promise<void> {
  await new Promise(setImmediate); // the error of a write is emitted after it
  if (writeError !== undefined)
    throw new FatalError(
      `its output could not be written (${writeError}): is the disk that it goes to full?`,
    );
}

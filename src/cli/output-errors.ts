/** Write errors on stdout and stderr: the reader may close the pipe, or the disk may be full. */
import { FatalError } from '../lib/errors.ts';

let isOutputRequired = true;
/** Why some output could not be written, such as ENOSPC. */
let writeError: string | undefined;
let readerLeft = false;

/**
 * Keeps a failed write from ending the program with a stack trace. A closed pipe (`atlas-node config show | head`) is no
 * failure, nor is a closed terminal (EIO): its signal ends the program properly. A command continues without a reader: a
 * backup must still complete, and verify must set its exit code.
 */
export function handleOutputErrors(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (!isOutputRequired || error.code === 'EIO') return;
    if (error.code === 'EPIPE') readerLeft = true;
    else writeError = error.code ?? error.message;
  });
  process.stderr.on('error', () => undefined); // no stream is left to report it on
}

/** Whether nobody reads the output any more: what only prints, without an end of its own, can stop. */
export function hasReaderLeft(): boolean {
  return readerLeft;
}

/** Failed writes no longer count as failures: the program is a daemon. */
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

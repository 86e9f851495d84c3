/** Write errors on stdout and stderr: the reader may close the pipe, or the disk may be full. */
import { FatalError } from '../lib/errors.ts';

let isOutputRequired = true;
/** Why some output could not be written, such as ENOSPC. */
let writeError: string | undefined;
let readerLeft = false;

/**
 * Keeps a failed write from ending the program with a stack trace. A closed pipe (`atlas-node config show | head`) is
 * not a failure, nor is a closed terminal (EIO), whose signal ends the program cleanly. Commands continue without a
 * reader: a backup must still complete, and verify must set its exit code.
 */
export function handleOutputErrors(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (!isOutputRequired || error.code === 'EIO') return;
    if (error.code === 'EPIPE') readerLeft = true;
    else writeError = error.code ?? error.message;
  });
  process.stderr.on('error', () => undefined); // no other stream remains to report it on
}

/** Whether the reader of the output is gone, so that an endless display can stop. */
export function hasReaderLeft(): boolean {
  return readerLeft;
}

/** Stops treating failed writes as failures. For a daemon. */
export function ignoreOutputErrors(): void {
  isOutputRequired = false;
}

/** Throws FatalError when some output could not be written. */
export async function assertOutputWritten(): Promise<void> {
  await new Promise(setImmediate); // a write emits its error later
  if (writeError !== undefined)
    throw new FatalError(`its output could not be written (${writeError}): is the disk full?`);
}

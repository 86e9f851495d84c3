/** What an error means to the person at the command line: one line and an exit code. */
import { ConfigError, FatalError, RequestError, StorageError } from '../errors.ts';
import { nativeLoadError } from './native-load-error.ts';

/** Exit code of bad usage or configuration. */
export const EXIT_USAGE = 2;

/** Exit code of a failure while running. */
export const EXIT_FAILURE = 1;

export function describeError(error: unknown): { line: string; exitCode: number } {
  if (error instanceof ConfigError || error instanceof RequestError) {
    return { line: oneLine(error.message), exitCode: EXIT_USAGE };
  }
  if (isWorkingDirGone(error)) return { line: WORKING_DIR_GONE, exitCode: EXIT_USAGE };
  const known = nativeLoadError(error) ?? error;
  if (known instanceof FatalError || known instanceof StorageError)
    return { line: oneLine(known.message), exitCode: EXIT_FAILURE };
  return { line: unexpectedErrorLine(known), exitCode: EXIT_FAILURE };
}

const WORKING_DIR_GONE = 'the folder it was started in does not exist any more: go to another one';

/** The error that Node throws for a relative path when the working folder no longer exists. */
function isWorkingDirGone(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error && error.syscall === 'uv_cwd';
}

/** A defect of the program itself: a report needs the place where it was thrown. */
function unexpectedErrorLine(error: unknown): string {
  if (!(error instanceof Error)) return `unexpected failure: ${oneLine(String(error))}`;
  const place = /\n\s+at (.*)/.exec(error.stack ?? '')?.[1];
  return `unexpected ${error.name}: ${oneLine(error.message)}${place ? ` at ${place}` : ''}; please report it`;
}

function oneLine(text: string): string {
  return text.trim().replace(/\s*\n\s*/g, ' ');
}

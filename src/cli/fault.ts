/** What an error means to the person at the command line: one line and an exit code. */
import { ConfigError, FatalError, RequestError, StorageError } from '../errors.ts';
import { nativeFault } from './native.ts';

/** Exit code of bad usage or configuration. */
export const USAGE_FAULT = 2;

/** Exit code of a failure while running. */
export const RUNTIME_FAULT = 1;

export function faultLine(error: unknown): { line: string; exitCode: number } {
  if (error instanceof ConfigError || error instanceof RequestError) {
    return { line: oneLine(error.message), exitCode: USAGE_FAULT };
  }
  if (isGoneFolder(error)) return { line: GONE_FOLDER, exitCode: USAGE_FAULT };
  const known = nativeFault(error) ?? error;
  if (known instanceof FatalError || known instanceof StorageError)
    return { line: oneLine(known.message), exitCode: RUNTIME_FAULT };
  return { line: defectLine(known), exitCode: RUNTIME_FAULT };
}

const GONE_FOLDER = 'the folder it was started in does not exist any more: go to another one';

/** The error that Node throws for a relative path when the working folder no longer exists. */
function isGoneFolder(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error && error.syscall === 'uv_cwd';
}

/** A defect of the program itself: a report needs the place where it was thrown. */
function defectLine(error: unknown): string {
  if (!(error instanceof Error)) return `unexpected failure: ${oneLine(String(error))}`;
  const place = /\n\s+at (.*)/.exec(error.stack ?? '')?.[1];
  return `unexpected ${error.name}: ${oneLine(error.message)}${place ? ` at ${place}` : ''}; please report it`;
}

function oneLine(text: string): string {
  return text.trim().replace(/\s*\n\s*/g, ' ');
}

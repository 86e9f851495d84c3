/** Whether this user may use a file, in words for the operator. */
import { accessSync, constants, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { FatalError } from '../errors.ts';
import { codeOf, messageOf } from './error-text.ts';

const REASONS: Record<string, string> = {
  ENOENT: 'no such file',
  EACCES: 'permission denied',
  EROFS: 'read-only file system',
  EISDIR: 'it is a folder',
  ENOTDIR: 'part of the path is not a folder',
};

const ADVICE: Record<string, string> = {
  EACCES: 'let one user own the data folder with its files, and run the daemon and all commands',
  EROFS: 'files are written beside it: copy it to a disk where they can be',
};

/** Why the system refused a file. */
export function fileErrorReason(error: unknown): string {
  const code = codeOf(error) || messageOf(error);
  return REASONS[code] ?? code;
}

/** Whether there is such a file in a data folder. Throws FatalError where this user may not look. */
export function dataFileExists(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    throw new FatalError(`cannot read ${path}: ${withAdvice(error)}`);
  }
}

/** What keeps this user from a database that is there, with what to do; undefined when nothing does. */
export function databaseAccessError(path: string): string | undefined {
  try {
    accessSync(path, constants.R_OK | constants.W_OK);
    accessSync(dirname(path), constants.W_OK | constants.X_OK); // for the files that SQLite keeps beside it
    return undefined;
  } catch (error) {
    return withAdvice(error);
  }
}

/**
 * Throws FatalError when this user may not write an existing database. To be asked before it is written: SQLite opens a
 * file that it may only read without a word, and its locks then keep nobody out.
 */
export function requireWritable(path: string): void {
  const refusal = dataFileExists(path) ? databaseAccessError(path) : undefined;
  if (refusal !== undefined) throw new FatalError(`cannot open ${path}: ${refusal}`);
}

function withAdvice(error: unknown): string {
  const advice = ADVICE[codeOf(error)];
  return advice === undefined ? fileErrorReason(error) : `${fileErrorReason(error)}; ${advice}`;
}

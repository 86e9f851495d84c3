/** What a failure of SQLite means to the operator. */
import { FatalError, StorageError } from '../errors.ts';

/** Failures that can pass, by the beginning of SQLite's code. */
const PASSING: readonly [code: string, meaning: string][] = [
  ['SQLITE_FULL', 'the disk is full'],
  ['SQLITE_IOERR', 'the disk or the file system fails'],
  ['SQLITE_READONLY', 'the file or its file system has become read-only'],
  ['SQLITE_BUSY', 'another program holds the file locked'],
  ['SQLITE_CANTOPEN', 'its files cannot be opened'],
];

/** Advice for a damaged index. */
const REBUILT = 'move it away and start again: the index is rebuilt from the node';

/** A failure that can pass as StorageError, a damaged file as FatalError with advice, any other error unchanged. */
export function storageTrouble(error: unknown, path: string, whenDamaged: string = REBUILT): unknown {
  if (!(error instanceof Error) || !('code' in error)) return error;
  if (isDamage(error)) return damaged(path, error, whenDamaged);
  const code = String(error.code);
  const passing = PASSING.find(([beginning]) => code.startsWith(beginning));
  return passing === undefined
    ? error
    : new StorageError(`${passing[1]} (${path}: ${error.message}, ${code})`, { cause: error });
}

/** Whether SQLite found the file corrupt. */
export function isDamage(error: unknown): error is Error & { code: string } {
  if (!(error instanceof Error) || !('code' in error)) return false;
  const code = String(error.code);
  return code === 'SQLITE_NOTADB' || code.startsWith('SQLITE_CORRUPT');
}

export function damaged(path: string, error: Error, whenDamaged: string = REBUILT): FatalError {
  return new FatalError(`${path} is damaged (${error.message}); ${whenDamaged}`, { cause: error });
}

/** What a failure of SQLite means to the one who runs the program. */
import { FatalError, StorageError } from '../errors.ts';

/** Failures that can pass, by the beginning of SQLite's code. */
const PASSING: readonly [code: string, meaning: string][] = [
  ['SQLITE_FULL', 'the disk is full'],
  ['SQLITE_IOERR', 'the disk or the file system fails'],
  ['SQLITE_READONLY', 'the file or its file system has become read-only'],
  ['SQLITE_BUSY', 'another program holds the file locked'],
  ['SQLITE_CANTOPEN', 'its files cannot be opened'],
];

/** The failure as StorageError when it can pass, as FatalError when the file is damaged, else as it is. */
export function storageTrouble(error: unknown, path: string): unknown {
  if (!(error instanceof Error) || !('code' in error)) return error;
  const code = String(error.code);
  const passing = PASSING.find(([beginning]) => code.startsWith(beginning));
  if (passing !== undefined)
    return new StorageError(`${passing[1]} (${path}: ${error.message}, ${code})`, { cause: error });
  return isDamage(code) ? damaged(path, error) : error;
}

export function isDamage(code: string): boolean {
  return code === 'SQLITE_NOTADB' || code.startsWith('SQLITE_CORRUPT');
}

export function damaged(path: string, error: Error): FatalError {
  return new FatalError(
    `${path} is damaged (${error.message}); move it away and start again: the index is rebuilt from the node`,
    { cause: error },
  );
}

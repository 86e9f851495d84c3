/** What a failure of SQLite means to the operator. */

import { codeOf, DamagedFileError, FatalError, StorageError } from '../lib/errors.ts';
import { databaseAccessError } from '../lib/files.ts';

/** The index contradicts itself, which no sequence of its writes does: treated as a file that SQLite finds corrupt. */
export class DamageError extends Error {
  override name = 'DamageError';
  readonly code = 'SQLITE_CORRUPT';
}

/** Failures that can pass, by a prefix of SQLite's code. */
const TRANSIENT_FAILURES: readonly [code: string, meaning: string][] = [
  ['SQLITE_FULL', 'the disk is full'],
  ['SQLITE_IOERR_SHMSIZE', 'the disk is full'], // for the index of the write-ahead log
  ['SQLITE_IOERR', 'the disk or the file system fails'],
  ['SQLITE_READONLY', 'the file or its file system has become read-only'],
  ['SQLITE_BUSY', 'another program holds the file locked'],
  ['SQLITE_CANTOPEN', 'its files cannot be opened'],
];

/** Advice for a damaged index. */
export const REBUILD_ADVICE =
  'move it away and start again: the index is rebuilt from the node; or put a backup in its place';

/** A failure that can pass as StorageError, a damaged file as DamagedFileError with advice, any other error unchanged. */
export function toStorageError(
  error: unknown,
  path: string,
  corruptionAdvice: string = REBUILD_ADVICE,
): unknown {
  if (!(error instanceof Error)) return error;
  if (isCorruption(error)) return corruptionError(path, error, corruptionAdvice);
  const meaning = meaningOf(error);
  return meaning === null
    ? error
    : new StorageError(`${meaning} (${path}: ${error.message}, ${codeOf(error)})`, { cause: error });
}

/** What a failure that can pass means, else null. */
export function meaningOf(error: Error): string | null {
  const code = codeOf(error);
  return TRANSIENT_FAILURES.find(([prefix]) => code.startsWith(prefix))?.[1] ?? null;
}

/** Any failure while a file is opened as FatalError. */
export function toOpenError(
  path: string,
  error: unknown,
  corruptionAdvice: string = REBUILD_ADVICE,
): unknown {
  if (error instanceof FatalError || !(error instanceof Error)) return error;
  if (isCorruption(error)) return corruptionError(path, error, corruptionAdvice);
  const meaning = meaningOf(error);
  const detail = meaning === null ? error.message : `${meaning} (${error.message})`;
  const refusal = isRefused(error) ? databaseAccessError(path) : undefined;
  return new FatalError(`cannot open ${path}: ${refusal ?? detail}`, { cause: error });
}

/** Whether the system may have refused the file to this user: SQLite does not say why. */
function isRefused(error: Error): boolean {
  return /^(SQLITE_CANTOPEN|SQLITE_READONLY|EACCES|EROFS)/.test(codeOf(error));
}

/** Whether SQLite found no room on the disk. */
export function isDiskFull(error: unknown): boolean {
  return codeOf(error) === 'SQLITE_FULL';
}

/** Whether another connection has the file locked. */
export function isLocked(error: unknown): boolean {
  return codeOf(error).startsWith('SQLITE_BUSY');
}

/** Whether SQLite found the file corrupt. */
export function isCorruption(error: unknown): error is Error & { code: string } {
  const code = codeOf(error);
  return code === 'SQLITE_NOTADB' || code.startsWith('SQLITE_CORRUPT');
}

export function corruptionError(
  path: string,
  error: Error,
  corruptionAdvice: string = REBUILD_ADVICE,
): DamagedFileError {
  return new DamagedFileError(`${path} is damaged (${error.message}); ${corruptionAdvice}`, { cause: error });
}

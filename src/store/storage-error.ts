/** Translates SQLite's errors for the operator. */

import { codeOf, DamagedFileError, FatalError, StorageError } from '../lib/errors.ts';
import { databaseAccessError } from '../lib/files.ts';

/**
 * The index contradicts itself, which no sequence of writes can cause. Handled like a file that SQLite finds corrupt.
 */
export class DamageError extends Error {
  override name = 'DamageError';
  readonly code = 'SQLITE_CORRUPT';
}

/** Transient failures, by a prefix of SQLite's code. */
const TRANSIENT_FAILURES: readonly [code: string, meaning: string][] = [
  ['SQLITE_FULL', 'the disk is full'],
  ['SQLITE_IOERR_SHMSIZE', 'the disk is full'], // for the index of the WAL
  ['SQLITE_IOERR', 'the disk or the file system fails'],
  ['SQLITE_READONLY', 'the file or its file system has become read-only'],
  ['SQLITE_BUSY', 'another program holds the file locked'],
  ['SQLITE_CANTOPEN', 'its files cannot be opened'],
];

/** Advice for a damaged index. */
export const REBUILD_ADVICE =
  'move it away and start again: the index is rebuilt from the node; or put a backup in its place';

/**
 * Turns transient failures into StorageError and damage into DamagedFileError with advice. Other errors stay unchanged.
 */
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

/** What a transient failure means, null for any other. */
export function meaningOf(error: Error): string | null {
  const code = codeOf(error);
  return TRANSIENT_FAILURES.find(([prefix]) => code.startsWith(prefix))?.[1] ?? null;
}

/**
 * What a failure of SQLite means to a command that cannot name the file; null for any other error. A command that reads
 * may come to a damaged page at any time.
 */
export function storageFailureText(error: unknown): string | null {
  if (!(error instanceof Error)) return null;
  if (isCorruption(error))
    return (
      `a file in the data folder is damaged, or its disk fails (${error.message}): look at the disk (dmesg); ` +
      `is it index.db, ${REBUILD_ADVICE}`
    );
  const meaning = meaningOf(error);
  return meaning === null ? null : `${meaning} (${error.message}, ${codeOf(error)})`;
}

/** Turns any failure to open a file into a FatalError. */
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

/**
 * Whether missing permissions or a folder may be the cause. SQLite does not say why it cannot open a file, and of a
 * folder it reads like a failing disk.
 */
function isRefused(error: Error): boolean {
  return /^(SQLITE_CANTOPEN|SQLITE_READONLY|SQLITE_IOERR|EACCES|EROFS)/.test(codeOf(error));
}

/** Whether the disk is full. */
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

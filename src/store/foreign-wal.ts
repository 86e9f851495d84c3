/** Refusing a WAL that was left beside a file it does not belong to. */
import { closeSync, openSync, readSync } from 'node:fs';
import { FatalError } from '../errors.ts';
import { fileBytes } from '../lib/file-size.ts';

/** Header offset that says whether a file is in WAL mode; a copy made by `backup` is not. */
const WRITE_VERSION_AT = 18;
const LEGACY_WRITE_VERSION = 1;

/**
 * Throws FatalError when the file is a copy that was put in the place of another, and the WAL of that other one is
 * still beside it: SQLite would take its pages for pages of the copy and so spoil the copy. To be called before this
 * process has the file open,
 * because closing any handle of a file gives up all locks that the process has on it.
 */
export function rejectForeignWal(path: string): void {
  if (fileBytes(`${path}-wal`) === 0 || writeVersion(path) !== LEGACY_WRITE_VERSION) return;
  throw new FatalError(
    `${path} is a copy, and the ${path}-wal beside it is of the file that stood here before and would spoil it: move ${path}-wal and ${path}-shm away and try again`,
  );
}

/** Null for a file that is not there or has no header. */
function writeVersion(path: string): number | null {
  if (fileBytes(path) === 0) return null;
  const file = openSync(path, 'r');
  try {
    const byte = Buffer.alloc(1);
    return readSync(file, byte, 0, 1, WRITE_VERSION_AT) === 1 ? byte[0]! : null;
  } finally {
    closeSync(file);
  }
}

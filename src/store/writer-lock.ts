/** One writer for an index at a time, also across processes. */
import { existsSync, realpathSync } from 'node:fs';
import Database from 'better-sqlite3';
import { FatalError } from '../errors.ts';
import { requireWritable } from '../lib/file-access.ts';
import { isLocked } from './storage-error.ts';

/** An empty file that exists only to be locked. It lies beside the index itself, not beside links to it. */
export const LOCK_SUFFIX = '.lock';

/** The right to write; `release` gives it back. */
export interface WriterLock {
  release(): void;
}

/**
 * Takes the right to write the index at `path` until `release`; the system takes it back however the process ends.
 * Throws FatalError with advice while another process has it.
 */
export function acquireWriterLock(
  path: string,
  advice = 'stop it first, or choose another data_dir',
): WriterLock {
  const lockFile = `${existsSync(path) ? realpathSync(path) : path}${LOCK_SUFFIX}`;
  requireWritable(lockFile);
  const db = new Database(lockFile, { timeout: 0 });
  try {
    db.pragma('journal_mode = MEMORY'); // only the lock is needed: no journal file
    db.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    db.close();
    if (isLocked(error)) {
      throw new FatalError(`another atlas-node is writing ${path}; ${advice}`, { cause: error });
    }
    throw error;
  }
  return { release: () => db.close() };
}

/** Guards a database file: one writer at a time across processes, and detection of a replaced file. */

import { existsSync, realpathSync, rmSync, statSync } from 'node:fs';
import Database from 'better-sqlite3';
import { FatalError, StorageError } from '../lib/errors.ts';
import { requireWritable } from '../lib/files.ts';
import { settingName } from '../lib/setting-name.ts';
import { isLocked } from './storage-error.ts';

/** An empty file that exists only to be locked. It lies next to the index file itself, not next to a symlink to it. */
export const LOCK_SUFFIX = '.lock';

/** The exclusive right to write a file, until `release`. */
export interface WriterLock {
  release(): void;
}

/**
 * Locks the index at `path` for writing. The operating system releases the lock however the process ends. Throws
 * FatalError with advice while another process holds it.
 */
export function acquireWriterLock(
  path: string,
  advice = `stop it first, or choose another ${settingName('data_dir')}`,
): WriterLock {
  const lockFile = `${existsSync(path) ? realpathSync(path) : path}${LOCK_SUFFIX}`;
  requireWritable(lockFile);
  const db = new Database(lockFile, { timeout: 0 });
  try {
    db.pragma('journal_mode = MEMORY'); // no journal file: nothing is ever written
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

/** Locks that end while another process opens their file: each attempt after the first needs such a coincidence. */
const MAX_LOCK_ATTEMPTS = 5;

/**
 * Runs a job that writes `path` and removes the lock file afterwards, so that the folder holds only the result. Throws
 * FatalError with advice while another process runs such a job, and `toError` of any other failure to lock.
 */
export async function withJobLock<T>(
  path: string,
  advice: string,
  job: () => Promise<T>,
  toError: (error: unknown) => unknown,
): Promise<T> {
  const lockFile = `${path}${LOCK_SUFFIX}`;
  let lock: WriterLock;
  try {
    lock = acquireJobLock(path, lockFile, advice);
  } catch (error) {
    throw toError(error);
  }
  try {
    return await job();
  } finally {
    // Remove the file before releasing the lock: afterwards, a file of that name may belong to another job.
    rmSync(lockFile, { force: true });
    lock.release();
  }
}

/** Locks the file that is at the path now, not one that an ending job has just removed: that excludes nobody. */
function acquireJobLock(path: string, lockFile: string, advice: string): WriterLock {
  for (let attempt = 1; ; attempt++) {
    const before = readInode(lockFile);
    const lock = acquireWriterLock(path, advice);
    if (attempt > MAX_LOCK_ATTEMPTS || sameInode(before, readInode(lockFile))) return lock;
    lock.release();
  }
}

/** Device and inode number of a file, null when the file does not exist. */
type Inode = { dev: bigint; ino: bigint } | null;

/**
 * SQLite keeps writing to a file that was removed or replaced, and those writes are lost when the process ends. So this
 * class records device and inode of the database and its WAL when they are opened, and the writer compares them before
 * each write.
 */
export class FileIdentity {
  private readonly files: readonly { path: string; inode: Inode }[];

  /** Call it after the connection's first read, when both files exist. */
  constructor(path: string) {
    this.files = [path, `${path}-wal`].map((file) => ({ path: file, inode: readInode(file) }));
  }

  /** Throws StorageError when a file was removed or replaced. */
  check(): void {
    for (const { path, inode } of this.files) {
      if (inode === null) continue;
      const now = readInode(path);
      if (sameInode(inode, now)) continue;
      throw new StorageError(
        now === null
          ? `${path} was removed or moved away: put it back, or restart atlas-node to begin a new one`
          : `${path} was replaced by another file: put the original back, or restart atlas-node to ` +
              'continue ' +
              'with this one',
      );
    }
  }
}

/** Whether both are the same file. A missing file equals none. */
function sameInode(a: Inode, b: Inode): boolean {
  return a !== null && b !== null && a.dev === b.dev && a.ino === b.ino;
}

function readInode(path: string): Inode {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stat === undefined ? null : { dev: stat.dev, ino: stat.ino };
}

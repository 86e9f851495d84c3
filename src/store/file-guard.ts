/** Guards a database file: one writer at a time across processes, and detection of a replaced file. */
import { existsSync, realpathSync, statSync } from 'node:fs';
import Database from 'better-sqlite3';
import { FatalError, StorageError } from '../lib/errors.ts';
import { requireWritable } from '../lib/files.ts';
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
  advice = 'stop it first, or choose another data_dir',
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
      if (now !== null && now.dev === inode.dev && now.ino === inode.ino) continue;
      throw new StorageError(
        now === null
          ? `${path} was removed or moved away: put it back, or restart atlas-node to begin a new one`
          : `${path} was replaced by another file: put the original back, or restart atlas-node to continue with this one`,
      );
    }
  }
}

function readInode(path: string): Inode {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stat === undefined ? null : { dev: stat.dev, ino: stat.ino };
}

/** Guards of a database file: one writer at a time across processes, and the notice when the file is replaced. */
import { existsSync, realpathSync, statSync } from 'node:fs';
import Database from 'better-sqlite3';
import { FatalError, StorageError } from '../lib/errors.ts';
import { requireWritable } from '../lib/files.ts';
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

/** Device and inode number of a file, null when there is none at the path. */
type Inode = { dev: bigint; ino: bigint } | null;

/**
 * SQLite keeps writing into a file that was removed or replaced, and all of that is lost when the process ends. So the
 * identities of the database and of its WAL are recorded when they are opened and compared before each write.
 */
export class FileIdentity {
  private readonly files: readonly { path: string; inode: Inode }[];

  /** Construct it after the connection's first read, when both files exist. */
  constructor(path: string) {
    this.files = [path, `${path}-wal`].map((file) => ({ path: file, inode: readInode(file) }));
  }

  /** Throws StorageError when a file is gone or another one stands in its place. */
  check(): void {
    for (const { path, inode } of this.files) {
      if (inode === null) continue;
      const now = readInode(path);
      if (now !== null && now.dev === inode.dev && now.ino === inode.ino) continue;
      throw new StorageError(
        now === null
          ? `${path} was removed or moved away: put it back, or restart atlas-node to start over with what is there`
          : `${path} was replaced by another file: put the first one back, or restart atlas-node to go on with this one`,
      );
    }
  }
}

function readInode(path: string): Inode {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stat === undefined ? null : { dev: stat.dev, ino: stat.ino };
}

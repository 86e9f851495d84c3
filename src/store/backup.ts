/** Copies of database files made while they are written. */
import { closeSync, fsyncSync, openSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { FatalError } from '../lib/errors.ts';
import { acquireWriterLock, LOCK_SUFFIX, type WriterLock } from './file-guard.ts';
import { type Db, openDatabase } from './open-database.ts';
import { corruptionError, isCorruption, toOpenError, toStorageError } from './storage-error.ts';

/**
 * Runs a backup to `target`, one at a time, and returns its result: two at once would take each other's unfinished
 * copies for their own. Throws FatalError while another runs, or when nothing can be written there.
 */
export async function withBackupLock<T>(
  source: string,
  target: string,
  backup: () => Promise<T>,
): Promise<T> {
  const path = `${target}.partial`;
  let lock: WriterLock;
  try {
    lock = acquireWriterLock(path, 'wait for its end, or name another file');
  } catch (error) {
    throw toBackupError(error, source, target);
  }
  try {
    return await backup();
  } finally {
    // While it is still locked: a file of that name that stands there after the release may be another backup's.
    rmSync(`${path}${LOCK_SUFFIX}`, { force: true });
    lock.release();
  }
}

/** Pages copied at a time: enough to use the disk's full speed, few enough to show progress and to stop in between. */
const PAGES_PER_STEP = 2_048;

interface CopyOptions {
  /** Whether only its owner may read the copy. */
  isPrivate: boolean;
  /** Advice to give the operator when the source is damaged. */
  corruptionAdvice?: string;
  /** Called after each step with the bytes copied so far and the total. If it throws, copying stops. */
  onProgress: (bytes: number, of: number) => void;
}

/** A copy that is whole and on the disk, but does not stand under its name yet. */
export interface UnnamedCopy {
  bytes: number;
  /** Gives it its name, and replaces a file of that name. Throws FatalError when the disk refuses it. */
  publish(): void;
  /** Removes it, whether it was published or not. */
  discard(): void;
}

/**
 * Copies the database into a single file as one commit left it, while any number of readers and its writer go on.
 * A failed copy leaves nothing behind; what a killed one left, the next clears away.
 *
 * SQLite's backup starts over whenever another connection writes, so under a busy writer it never ends. Here it
 * copies within one read transaction, which no write disturbs; the price is that the WAL cannot be emptied
 * meanwhile and grows with every write. Throws FatalError when the copy cannot be made.
 */
export async function copyDatabase(
  source: string,
  target: string,
  { isPrivate, corruptionAdvice, onProgress }: CopyOptions,
): Promise<UnnamedCopy> {
  const partial = `${target}.partial`;
  try {
    removeDatabase(partial);
    closeSync(openSync(partial, 'wx', isPrivate ? 0o600 : 0o644));
    await copySnapshot(source, partial, onProgress);
    leaveWalMode(partial);
    let path = partial;
    return {
      bytes: statSync(partial).size,
      publish() {
        publish(source, target);
        path = target;
      },
      discard: () => removeDatabase(path),
    };
  } catch (error) {
    removeDatabase(partial);
    if (isCorruption(error)) throw corruptionError(source, error, corruptionAdvice);
    throw toBackupError(error, source, target);
  }
}

function publish(source: string, target: string): void {
  try {
    renameSync(`${target}.partial`, target);
    fsyncDirectory(dirname(target));
  } catch (error) {
    throw toBackupError(error, source, target);
  }
}

async function copySnapshot(
  source: string,
  partial: string,
  onProgress: CopyOptions['onProgress'],
): Promise<void> {
  const db = openSnapshot(source);
  try {
    const pageBytes = Number(db.pragma('page_size', { simple: true }));
    const progress = ({
      totalPages,
      remainingPages,
    }: {
      totalPages: number;
      remainingPages: number;
    }): number => {
      onProgress((totalPages - remainingPages) * pageBytes, totalPages * pageBytes);
      return PAGES_PER_STEP;
    };
    await db.backup(partial, { progress });
  } finally {
    db.close();
  }
}

/** The database in a read transaction, which stays at the present commit until it is closed. */
function openSnapshot(path: string): Db {
  let db: Db | undefined;
  try {
    db = openDatabase(path, { readonly: true });
    db.exec('BEGIN');
    db.prepare('SELECT count(*) FROM sqlite_schema').get();
    return db;
  } catch (error) {
    db?.close();
    throw isCorruption(error) ? error : toOpenError(path, error);
  }
}

/** Takes a copy out of WAL mode, so that it can be opened for reading without files beside it, also from a read-only disk. */
function leaveWalMode(path: string): void {
  const db = openDatabase(path);
  try {
    db.pragma('journal_mode = DELETE');
  } finally {
    db.close();
  }
}

/** Removes a database with the files that SQLite keeps beside it. */
function removeDatabase(path: string): void {
  for (const suffix of ['', '-journal', '-wal', '-shm']) rmSync(`${path}${suffix}`, { force: true });
}

/** Makes a rename durable. */
export function fsyncDirectory(path: string): void {
  const folder = openSync(path, 'r');
  fsyncSync(folder);
  closeSync(folder);
}

function toBackupError(error: unknown, source: string, target: string): unknown {
  const classified = toStorageError(error, target);
  if (classified instanceof FatalError || !(classified instanceof Error)) return classified;
  return new FatalError(`cannot copy ${source} to ${target}: ${classified.message}`, { cause: error });
}

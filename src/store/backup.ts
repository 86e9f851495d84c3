/** Copies database files that are being written. */
import { closeSync, fsyncSync, openSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { FatalError } from '../lib/errors.ts';
import { monotonicNow } from '../lib/time.ts';
import { withJobLock } from './file-guard.ts';
import { type Db, openDatabase } from './open-database.ts';
import { corruptionError, isCorruption, toOpenError, toStorageError } from './storage-error.ts';

/**
 * Runs a backup to `target` and returns its result. Two concurrent backups would mistake each other's unfinished copies
 * for their own, so it throws FatalError while another one runs, or when the target cannot be written.
 */
export function withBackupLock<T>(source: string, target: string, backup: () => Promise<T>): Promise<T> {
  return withJobLock(`${target}.partial`, 'wait for its end, or name another file', backup, (error) =>
    toBackupError(error, source, target),
  );
}

/** Pages copied per step: enough for the disk's full speed, few enough to report progress and to stop promptly. */
const PAGES_PER_STEP = 2_048;

/** Steps per second of a throttled copy. Each wait is short enough to notice a signal. */
const THROTTLED_STEPS_PER_SECOND = 10;

interface CopyOptions {
  /** Rate limit of the copy. Default: as fast as the disk allows. */
  bytesPerSecond?: number | undefined;
  /** Whether only the owner may read the copy. */
  isPrivate: boolean;
  /** Advice for the operator when the source is damaged. */
  corruptionAdvice?: string;
  /** Called after each step with the bytes copied so far and the total. Throwing stops the copy. */
  onProgress: (bytes: number, of: number) => void;
}

/** A complete copy on disk, still under a temporary name. */
export interface UnnamedCopy {
  bytes: number;
  /** Renames it to the target and replaces an existing file. Throws FatalError when the rename fails. */
  publish(): void;
  /** Deletes the copy, published or not. */
  discard(): void;
}

/**
 * Copies the database, as of one commit, into a single file while readers and the writer continue. A failed copy leaves
 * nothing behind; the next backup removes what a killed one left. Throws FatalError when copying fails.
 *
 * SQLite's own backup restarts whenever another connection writes, so under a busy writer it never ends. This one
 * copies within one read transaction, which writes do not disturb. The price: until it ends, the WAL cannot be emptied
 * and grows with every write.
 */
export async function copyDatabase(
  source: string,
  target: string,
  { isPrivate, corruptionAdvice, bytesPerSecond, onProgress }: CopyOptions,
): Promise<UnnamedCopy> {
  const partial = `${target}.partial`;
  try {
    removeDatabase(partial);
    closeSync(openSync(partial, 'wx', isPrivate ? 0o600 : 0o644));
    await copySnapshot(source, partial, onProgress, bytesPerSecond ?? Number.POSITIVE_INFINITY);
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
  bytesPerSecond: number,
): Promise<void> {
  const db = openSnapshot(source);
  try {
    const pageBytes = Number(db.pragma('page_size', { simple: true }));
    const pagesPerStep = Math.ceil(
      Math.min(PAGES_PER_STEP, bytesPerSecond / THROTTLED_STEPS_PER_SECOND / pageBytes),
    );
    const startedAt = monotonicNow();
    const progress = ({
      totalPages,
      remainingPages,
    }: {
      totalPages: number;
      remainingPages: number;
    }): number => {
      const copied = (totalPages - remainingPages) * pageBytes;
      onProgress(copied, totalPages * pageBytes);
      // The driver's own pause would spin.
      sleepUntil(startedAt + (copied / bytesPerSecond) * 1000);
      return pagesPerStep;
    };
    await db.backup(partial, { progress });
  } finally {
    db.close();
  }
}

/** Blocks this thread, which does nothing else during a backup. */
function sleepUntil(time: number): void {
  const ms = time - monotonicNow();
  if (ms > 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

/** Opens the database in a read transaction, which stays at the current commit until the connection closes. */
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

/** Takes a copy out of WAL mode, so that it can be opened on a read-only disk. */
function leaveWalMode(path: string): void {
  const db = openDatabase(path);
  try {
    db.pragma('journal_mode = DELETE');
  } finally {
    db.close();
  }
}

/** Deletes a database with its -wal and -shm files. */
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

/** The write-ahead log (WAL): checkpoints that keep it short under constant readers, and a check that it belongs to its file. */

import { closeSync, openSync, readSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { DamagedFileError, FatalError, StorageError } from '../lib/errors.ts';
import { fileBytes } from '../lib/files.ts';
import { type Db, openDatabase, type Statement } from './open-database.ts';
import { toStorageError } from './storage-error.ts';

/** A WAL up to this size is left to checkpoints that never wait. */
const CHECKPOINT_ABOVE_BYTES = 16 * 2 ** 20;

/** How long the writer waits for readers when the WAL is larger, ms: longer than a turn of the serving event loop. */
const SHORT_WAIT_MS = 100;

/** Above this size, which only a backfill reaches, the writer outwaits any read of a read thread or of the index stats. */
const LONG_WAIT_ABOVE_BYTES = 128 * 2 ** 20;
const LONG_WAIT_MS = 15_000;

/** SQLite's header in front of each page of the WAL, bytes. */
const FRAME_HEADER = 24;

/** What `PRAGMA wal_checkpoint` gives. */
export interface CheckpointResult {
  /** 1 when readers were in the way. */
  busy: number;
  /** Pages in the WAL. */
  log: number;
  /** How many of them are already in the file. */
  checkpointed: number;
}

interface WalLimits {
  checkpointAboveBytes?: number;
  longWaitAboveBytes?: number;
  longWaitMs?: number;
}

export class WriteAheadLog {
  private readonly db: Db;
  private readonly walStatus: Statement<[], CheckpointResult>;
  private readonly restartCheckpoint: Statement<[], CheckpointResult>;
  private readonly frameBytes: number;
  private readonly limits: Required<WalLimits>;
  /** Above this size the writer waits long. */
  private longWaitAboveBytes: number;

  constructor(db: Db, limits: WalLimits = {}) {
    this.db = db;
    this.limits = {
      checkpointAboveBytes: CHECKPOINT_ABOVE_BYTES,
      longWaitAboveBytes: LONG_WAIT_ABOVE_BYTES,
      longWaitMs: LONG_WAIT_MS,
      ...limits,
    };
    this.longWaitAboveBytes = this.limits.longWaitAboveBytes;
    this.walStatus = db.prepare('PRAGMA wal_checkpoint(NOOP)');
    this.restartCheckpoint = db.prepare('PRAGMA wal_checkpoint(RESTART)');
    this.frameBytes = Number(db.pragma('page_size', { simple: true })) + FRAME_HEADER;
  }

  /** Bytes in the WAL. */
  sizeBytes(): number {
    return (this.walStatus.get()?.log ?? 0) * this.frameBytes;
  }

  /**
   * Called before a commit. A passive checkpoint gives way to readers, so under constant readers the WAL would grow
   * from commit to commit. A large WAL is therefore emptied here, after waiting until nobody reads from it. Readers
   * themselves never wait.
   */
  checkpointIfLarge(): void {
    const bytes = this.sizeBytes();
    if (bytes > this.limits.checkpointAboveBytes) this.restartWal(bytes);
  }

  private restartWal(bytes: number): void {
    const isLarge = bytes > this.longWaitAboveBytes;
    const usual = this.db.pragma('busy_timeout', { simple: true });
    const until = performance.now() + (isLarge ? this.limits.longWaitMs : SHORT_WAIT_MS);
    let isEmpty = false;
    try {
      this.db.pragma(`busy_timeout = ${SHORT_WAIT_MS}`);
      // One try waits until the place of an old read is free, which the next read may take at once: a new one sees that.
      do isEmpty = this.restartCheckpoint.get()?.busy === 0;
      while (!isEmpty && performance.now() < until);
    } finally {
      this.db.pragma(`busy_timeout = ${usual}`);
    }
    // An even longer reader, such as a backup, must not delay every block: the WAL may double before the next long wait.
    if (isEmpty) this.longWaitAboveBytes = this.limits.longWaitAboveBytes;
    else if (isLarge) this.longWaitAboveBytes = bytes * 2;
  }
}

/** A reader that began before the last commit holds up the pages written since; reads are short. */
const MAX_TRIES = 20;
const RETRY_MS = 5;

export class Checkpointer {
  private readonly path: string;
  private readonly db: Db;
  private readonly passiveCheckpoint: Statement<[], CheckpointResult>;

  /** The file must exist. */
  constructor(path: string) {
    this.path = path;
    this.db = openDatabase(path, { cacheMb: 1 });
    this.passiveCheckpoint = this.db.prepare('PRAGMA wal_checkpoint(PASSIVE)');
  }

  /**
   * Moves the pages that readers allow, so that little is left for the writer, which alone can restart the WAL.
   * Neither the writer nor readers wait for this. Failures of the disk and damage are not reported here: the writer
   * meets the same ones and reports them.
   */
  async checkpointWal(): Promise<void> {
    for (let tries = 1; tries <= MAX_TRIES; tries++) {
      try {
        const result = this.passiveCheckpoint.get();
        if (result === undefined || result.checkpointed >= result.log) return;
      } catch (error) {
        const classified = toStorageError(error, this.path);
        if (classified instanceof StorageError || classified instanceof DamagedFileError) return;
        throw classified;
      }
      await sleep(RETRY_MS);
    }
  }

  close(): void {
    this.db.close();
  }
}

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

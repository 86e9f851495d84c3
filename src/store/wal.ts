/** The write-ahead log (WAL): keeps it short under constant readers, and checks that it belongs to its file. */

import { closeSync, openSync, readSync } from 'node:fs';
import { FatalError } from '../lib/errors.ts';
import { fileBytes } from '../lib/files.ts';
import { type Db, type Statement, WAL_KEPT_BYTES } from './open-database.ts';

/** Below this size, only checkpoints that never wait shorten the WAL. */
const CHECKPOINT_ABOVE_BYTES = 16 * 2 ** 20;

/**
 * Above that size, the writer waits this long for readers, milliseconds: longer than one turn of the serving event
 * loop.
 */
const SHORT_WAIT_MS = 100;

/**
 * Above this size, which only a backfill reaches, the writer waits longer than any reader thread or index-stats read
 * takes.
 */
const LONG_WAIT_ABOVE_BYTES = 128 * 2 ** 20;
const LONG_WAIT_MS = 15_000;

/** SQLite's header in front of each page of the WAL, bytes. */
const FRAME_HEADER = 24;

/** The result of `PRAGMA wal_checkpoint`. */
export interface CheckpointResult {
  /** 1 when readers blocked it. */
  busy: number;
  /** Pages in the WAL. */
  log: number;
  /** Number of those pages already in the file. */
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
  /** Above this size the writer waits LONG_WAIT_MS. */
  private longWaitAboveBytes: number;
  /** SQLite truncates the file of an emptied WAL to this size. */
  private keptBytes = WAL_KEPT_BYTES;

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
   * Call it before a commit. Passive checkpoints skip pages that readers need, so under constant readers the WAL would
   * grow without bound. This waits for a moment without readers and empties a large WAL. Readers never wait.
   *
   * The emptied file keeps its size for the next commit: overwriting pages takes a backfill less time than appending
   * them. After the backfill, the file shrinks when SQLite next starts over.
   */
  checkpointIfLarge(): void {
    const bytes = this.sizeBytes();
    this.keep(Math.max(bytes, WAL_KEPT_BYTES));
    if (bytes > this.limits.checkpointAboveBytes) this.restartWal(bytes);
  }

  private keep(bytes: number): void {
    if (bytes === this.keptBytes) return;
    this.keptBytes = bytes;
    this.db.pragma(`journal_size_limit = ${bytes}`);
  }

  private restartWal(bytes: number): void {
    const isLarge = bytes > this.longWaitAboveBytes;
    const usual = this.db.pragma('busy_timeout', { simple: true });
    const until = performance.now() + (isLarge ? this.limits.longWaitMs : SHORT_WAIT_MS);
    let isEmpty = false;
    try {
      this.db.pragma(`busy_timeout = ${SHORT_WAIT_MS}`);
      // A new read may start right when the old one ends, so one attempt is not enough.
      do isEmpty = this.restartCheckpoint.get()?.busy === 0;
      while (!isEmpty && performance.now() < until);
    } finally {
      this.db.pragma(`busy_timeout = ${usual}`);
    }
    // An even slower reader, such as a backup, must not delay every block: let the WAL double before the next long
    // wait.
    if (isEmpty) this.longWaitAboveBytes = this.limits.longWaitAboveBytes;
    else if (isLarge) this.longWaitAboveBytes = bytes * 2;
  }
}

/** Makes the first write to an empty WAL, the only write that waits for the disk: it syncs the WAL's header. */
export function primeWal(db: Db): void {
  db.pragma(`user_version = ${db.pragma('user_version', { simple: true })}`);
}

/** Offset of the header byte that is set while a file is in WAL mode. A copy made by `backup` is not. */
const WRITE_VERSION_AT = 18;
const LEGACY_WRITE_VERSION = 1;

/**
 * Throws FatalError when a copy replaced the file but the old file's WAL is still there: SQLite would apply that WAL
 * and corrupt the copy. Call it before this process opens the database, because closing any handle of a file drops all
 * locks that the process holds on it.
 */
export function rejectForeignWal(path: string): void {
  if (fileBytes(`${path}-wal`) === 0 || writeVersion(path) !== LEGACY_WRITE_VERSION) return;
  throw new FatalError(
    `${path} is a copy, but ${path}-wal belongs to the file it replaced and would corrupt it: move ` +
      `${path}-wal and ${path}-shm away and try again`,
  );
}

/** Null when the file is missing or has no header. */
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

/**
 * Keeping the write-ahead log of `keys.db` short without blocking the serving thread: a checkpoint waits for the disk,
 * tens of milliseconds while an index is being filled. No connection to the file checkpoints automatically
 * (keys-file.ts); a thread is started for each checkpoint and then ends.
 */
import { stat } from 'node:fs/promises';
import { type Db, setBusyTimeout } from '../store/open-database.ts';
import { KEYS_SCHEMA_VERSION } from './schema.ts';

/** The part of a worker thread that is used here. */
export interface CheckpointThread {
  on(event: 'error', listener: (error: Error) => void): unknown;
  on(event: 'exit', listener: () => void): unknown;
}

/** Milliseconds between checks of the size of the write-ahead log. Writing usage under load adds 1 to 2 MB a minute. */
const CHECK_INTERVAL_MS = 60_000;

/** A write-ahead log of at least this many bytes is checkpointed. */
const MIN_WAL_BYTES = 4 * 2 ** 20;

/** Longest wait for those who still read from the log, milliseconds: it is locked, so meanwhile nothing is written. */
const MAX_LOCKED_MS = 100;

export class KeysCheckpointer {
  private readonly walPath: string;
  private readonly startThread: () => CheckpointThread;
  private readonly onFailure: (error: Error) => void;
  private readonly timer: NodeJS.Timeout;
  /** Settles when the check under way is over, and with it the thread that it started. */
  private running: Promise<void> | null = null;

  /** `startThread` starts a thread that makes a checkpoint of the file at `path`; `onFailure` is called when one fails. */
  constructor(path: string, startThread: () => CheckpointThread, onFailure: (error: Error) => void) {
    this.walPath = `${path}-wal`;
    this.startThread = startThread;
    this.onFailure = onFailure;
    this.timer = setInterval(() => void this.checkpointIfLarge(), CHECK_INTERVAL_MS).unref();
  }

  /** Makes a checkpoint if the log is long; resolves when that is done or not needed. Never rejects. */
  checkpointIfLarge(): Promise<void> {
    this.running ??= this.check()
      .catch(this.onFailure)
      .finally(() => {
        this.running = null;
      });
    return this.running;
  }

  /** Resolves when no thread is running, and none will be started any more. */
  async close(): Promise<void> {
    clearInterval(this.timer);
    await this.running;
  }

  private async check(): Promise<void> {
    const { size } = await stat(this.walPath).catch(() => ({ size: 0 }));
    if (size < MIN_WAL_BYTES) return;
    const thread = this.startThread();
    thread.on('error', this.onFailure);
    await new Promise<void>((resolve) => thread.on('exit', resolve));
  }
}

/**
 * Moves the log into the file and empties it. The first checkpoint waits only for the disk; the second, which blocks
 * writers, has next to nothing left to do; while somebody reads from the log it does nothing. Throws SQLite's errors, with
 * the log unchanged.
 */
export function checkpointWal(db: Db): void {
  db.pragma('wal_checkpoint(PASSIVE)');
  setBusyTimeout(db, MAX_LOCKED_MS);
  db.pragma('wal_checkpoint(TRUNCATE)');
  primeWal(db);
}

/** Makes the first write to an empty log: it is the only one that waits for the disk, to sync the log's header. */
export function primeWal(db: Db): void {
  db.pragma(`user_version = ${KEYS_SCHEMA_VERSION}`);
}

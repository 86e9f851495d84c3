/**
 * Keeps the WAL of `keys.db` short without blocking the serving thread. A checkpoint waits for the disk, tens of
 * milliseconds during a backfill, so no connection checkpoints automatically (keys-file.ts); each checkpoint runs in a
 * short-lived thread.
 */

import { stat } from 'node:fs/promises';
import { guarded } from '../lib/guard.ts';
import { type Db, setBusyTimeout } from '../store/open-database.ts';
import { startThread } from '../threads/start-thread.ts';
import { KEYS_SCHEMA_VERSION } from './keys-file.ts';

/** Starts a thread that checkpoints the keys file at `path` once and exits. */
export function startKeysCheckpointThread(path: string): CheckpointThread {
  return startThread('keys-checkpoint', path);
}

/** The subset of Worker used here. */
interface CheckpointThread {
  on(event: 'error', listener: (error: Error) => void): unknown;
  on(event: 'exit', listener: () => void): unknown;
}

/** Milliseconds between checks of the WAL's size. Usage writes under load add 1 to 2 MB per minute. */
const CHECK_INTERVAL_MS = 60_000;

/** A WAL of at least this many bytes is checkpointed. */
const MIN_WAL_BYTES = 4 * 2 ** 20;

/** Longest wait for readers of the WAL, milliseconds. The WAL is locked meanwhile, so nothing is written. */
const MAX_LOCKED_MS = 100;

export class KeysCheckpointer {
  private readonly walPath: string;
  private readonly startThread: () => CheckpointThread;
  private readonly onFailure: (error: Error) => void;
  private readonly timer: NodeJS.Timeout;
  /** The current check, including its thread; null when none runs. */
  private running: Promise<void> | null = null;

  /**
   * `startThread` starts a thread that checkpoints the file at `path`; `onFailure` is called when the checkpoint fails.
   */
  constructor(path: string, startThread: () => CheckpointThread, onFailure: (error: Error) => void) {
    this.walPath = `${path}-wal`;
    this.startThread = startThread;
    this.onFailure = onFailure;
    this.timer = setInterval(
      guarded('checkpoint of the keys', () => this.checkpointIfLarge()),
      CHECK_INTERVAL_MS,
    ).unref();
  }

  /** Checkpoints a long WAL. Resolves when done or not needed; never rejects. */
  checkpointIfLarge(): Promise<void> {
    this.running ??= this.check()
      .catch(this.onFailure)
      .finally(() => {
        this.running = null;
      });
    return this.running;
  }

  /** Stops the checks; resolves when no thread is running. */
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
 * Moves the WAL into the file and empties it. The first checkpoint waits only for the disk. The second blocks writers
 * but has almost nothing left to do, and does nothing while a reader uses the WAL. Throws SQLite's errors and leaves
 * the WAL unchanged.
 */
export function checkpointWal(db: Db): void {
  db.pragma('wal_checkpoint(PASSIVE)');
  setBusyTimeout(db, MAX_LOCKED_MS);
  db.pragma('wal_checkpoint(TRUNCATE)');
  primeWal(db);
}

/** Makes the first write to an empty WAL, the only write that waits for the disk: it syncs the WAL's header. */
export function primeWal(db: Db): void {
  db.pragma(`user_version = ${KEYS_SCHEMA_VERSION}`);
}

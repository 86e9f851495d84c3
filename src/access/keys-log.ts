/**
 * Keeping the write-ahead log of `keys.db` short without the serving thread: a checkpoint waits for the disk, tens of
 * milliseconds when an index is filled beside it. No connection to the file makes checkpoints by itself (keys-file.ts);
 * a thread that is started for each and then ends makes them.
 */
import { stat } from 'node:fs/promises';
import type { Db } from '../store/open.ts';
import { KEYS_SCHEMA_VERSION } from './schema.ts';

/** The part of a worker thread that is used here. */
export interface KeysLogThread {
  on(event: 'error', listener: (error: Error) => void): unknown;
  on(event: 'exit', listener: () => void): unknown;
}

/** Between two looks at the size of the log. Writing usage under load adds 1 to 2 MB a minute. */
const LOOK_MS = 60_000;

/** A log of this many bytes is moved into the file. */
const WORTH_MOVING_BYTES = 4 * 2 ** 20;

export class KeysLog {
  private readonly logPath: string;
  private readonly start: () => KeysLogThread;
  private readonly onFailure: (error: Error) => void;
  private readonly timer: NodeJS.Timeout;
  /** Settles when the thread that is at work has ended. */
  private underWay: Promise<void> | null = null;

  /** `start` starts a thread that moves the log of the file at `path`; `onFailure` is told when one could not. */
  constructor(path: string, start: () => KeysLogThread, onFailure: (error: Error) => void) {
    this.logPath = `${path}-wal`;
    this.start = start;
    this.onFailure = onFailure;
    this.timer = setInterval(() => void this.look(), LOOK_MS).unref();
  }

  /** Has a long log moved; resolves when it is, or when the log is short. Rejects never. */
  async look(): Promise<void> {
    if (this.underWay === null) {
      const bytes = await sizeOf(this.logPath);
      if (bytes < WORTH_MOVING_BYTES) return;
      this.underWay ??= this.run();
    }
    await this.underWay;
  }

  /** Resolves when no thread is at work any more. */
  async close(): Promise<void> {
    clearInterval(this.timer);
    await this.underWay;
  }

  private run(): Promise<void> {
    const thread = this.start();
    thread.on('error', this.onFailure);
    return new Promise<void>((resolve) => thread.on('exit', resolve)).finally(() => {
      this.underWay = null;
    });
  }
}

/**
 * Moves the log into the file and empties it. The first checkpoint waits for the disk and for nobody else; the second,
 * for which writers wait, finds next to nothing left to do. Throws SQLite's errors, with the log as it was.
 */
export function moveLog(db: Db): void {
  db.pragma('wal_checkpoint(PASSIVE)');
  db.pragma('wal_checkpoint(TRUNCATE)');
  beginLog(db);
}

/** Makes the first write to an empty log, which alone waits for the disk: the header of the log must be safe. */
export function beginLog(db: Db): void {
  db.pragma(`user_version = ${KEYS_SCHEMA_VERSION}`);
}

/** 0 for a log that is not there. */
function sizeOf(path: string): Promise<number> {
  return stat(path).then(
    ({ size }) => size,
    () => 0,
  );
}

/** Moves the WAL of a file into it, over a connection of its own. */
import { setTimeout as sleep } from 'node:timers/promises';
import { DamagedFileError, StorageError } from '../lib/errors.ts';
import { type Db, openDatabase, type Statement, setBusyTimeout } from './open-database.ts';
import { toStorageError } from './storage-error.ts';
import { type CheckpointResult, primeWal } from './wal.ts';

/** A read that began before the last commit blocks the pages written since. Reads are short, so retry. */
const MAX_TRIES = 20;
const RETRY_MS = 5;

/** Longest wait for readers of the WAL, milliseconds. The WAL is locked meanwhile, so nothing is written. */
const MAX_LOCKED_MS = 100;

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
   * Copies the pages that readers allow into the file, so that little is left for the writer, which alone can restart
   * the WAL. Blocks no other connection. Ignores disk failures and damage, because the writer hits and reports them
   * too.
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

  /**
   * Moves the WAL into the file and empties it, for a file whose writers never do. The first checkpoint waits only for
   * the disk. The second blocks writers but has almost nothing left to do, and does nothing while a reader uses the
   * WAL. Throws SQLite's errors and leaves the WAL unchanged.
   */
  emptyWal(): void {
    this.passiveCheckpoint.get();
    setBusyTimeout(this.db, MAX_LOCKED_MS);
    this.db.pragma('wal_checkpoint(TRUNCATE)');
    primeWal(this.db);
  }

  close(): void {
    this.db.close();
  }
}

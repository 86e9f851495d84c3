/** Moving the pages of the WAL into the file, on a connection of its own. */
import { setTimeout as sleep } from 'node:timers/promises';
import { StorageError } from '../errors.ts';
import { type Db, openDatabase, type Statement } from './open-database.ts';
import { toStorageError } from './storage-error.ts';
import type { CheckpointResult } from './wal.ts';

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
   * Neither the writer nor readers wait for this. A disk failure is not reported here: the writer meets the same one
   * and reports it.
   */
  async checkpointWal(): Promise<void> {
    for (let tries = 1; tries <= MAX_TRIES; tries++) {
      try {
        const result = this.passiveCheckpoint.get();
        if (result === undefined || result.checkpointed >= result.log) return;
      } catch (error) {
        const classified = toStorageError(error, this.path);
        if (classified instanceof StorageError) return;
        throw classified;
      }
      await sleep(RETRY_MS);
    }
  }

  close(): void {
    this.db.close();
  }
}

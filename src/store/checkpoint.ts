/** Moving the pages of the write-ahead log into the file, on a connection of its own. */
import { setTimeout as sleep } from 'node:timers/promises';
import { StorageError } from '../errors.ts';
import { type Db, openDatabase, type Statement } from './open.ts';
import { storageTrouble } from './trouble.ts';

/** Pages in the log, and how many of them are already in the file. */
interface Counts {
  log: number;
  checkpointed: number;
}

/** A reader that began before the last commit holds up the pages written since; reads are short. */
const TRIES = 20;
const RETRY_MS = 5;

export class Checkpointer {
  private readonly path: string;
  private readonly db: Db;
  private readonly checkpoint: Statement<[], Counts>;

  /** The file must exist. */
  constructor(path: string) {
    this.path = path;
    this.db = openDatabase(path, { cacheMb: 1 });
    this.checkpoint = this.db.prepare('PRAGMA wal_checkpoint(PASSIVE)');
  }

  /**
   * Moves the pages that readers allow, so that little is left for the writer, which alone can restart the log.
   * Neither the writer nor readers wait for this. A disk failure is not reported here: the writer meets the same one
   * and reports it.
   */
  async moveLog(): Promise<void> {
    for (let tries = 1; tries <= TRIES; tries++) {
      try {
        const counts = this.checkpoint.get();
        if (counts === undefined || counts.checkpointed >= counts.log) return;
      } catch (error) {
        const trouble = storageTrouble(error, this.path);
        if (trouble instanceof StorageError) return;
        throw trouble;
      }
      await sleep(RETRY_MS);
    }
  }

  close(): void {
    this.db.close();
  }
}

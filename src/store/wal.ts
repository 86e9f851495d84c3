/** Keeping the write-ahead log of the index short, also under constant readers. */
import type { Db, Statement } from './open.ts';

/** A log up to this size after a commit is left to SQLite's own checkpoints, which never wait. */
const CALM_BYTES = 16 * 2 ** 20;

/** SQLite's header in front of each page of the log, bytes. */
const FRAME_HEADER = 24;

/** How often busy_timeout is waited for readers: the read threads and the survey end within. A backup may last longer. */
const TRIES = 3;

interface Counts {
  /** 1 when readers or another writer were in the way. */
  busy: number;
  /** Pages in the log. */
  log: number;
}

export class WriteAheadLog {
  private readonly look: Statement<[], Counts>;
  private readonly empty: Statement<[], Counts>;
  private readonly frameBytes: number;
  private readonly calmBytes: number;

  constructor(db: Db, calmBytes = CALM_BYTES) {
    this.calmBytes = calmBytes;
    this.look = db.prepare('PRAGMA wal_checkpoint(NOOP)');
    this.empty = db.prepare('PRAGMA wal_checkpoint(RESTART)');
    this.frameBytes = Number(db.pragma('page_size', { simple: true })) + FRAME_HEADER;
  }

  /**
   * Called after a commit; returns the bytes that it left in the log. SQLite's own checkpoint gives way to readers, so
   * that under constant ones the log would grow from commit to commit. A large log is therefore emptied here, waiting
   * until nobody reads from it: a moment for the serving thread, whose reads last one turn of its event loop, and
   * until the end of a long read elsewhere. Readers themselves never wait.
   */
  settle(): number {
    const bytes = (this.look.get()?.log ?? 0) * this.frameBytes;
    for (let tries = TRIES; bytes > this.calmBytes && tries > 0; tries--) {
      if (this.empty.get()?.busy === 0) break;
    }
    return bytes;
  }
}

/** Keeping the write-ahead log (WAL) of the index short, even under constant readers. */
import type { Db, Statement } from './open-database.ts';

/** A WAL up to this size is left to checkpoints that never wait. */
const CHECKPOINT_ABOVE_BYTES = 16 * 2 ** 20;

/** How long the writer waits for readers when the WAL is larger, ms: longer than a turn of the serving event loop. */
const SHORT_WAIT_MS = 100;

/** Above this size, which only filling reaches, the writer waits long enough for any read of a read thread or survey. */
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

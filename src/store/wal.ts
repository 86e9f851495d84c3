/** Keeping the write-ahead log of the index short, also under constant readers. */
import type { Db, Statement } from './open.ts';

/** A log up to this size is left to checkpoints that never wait. */
const CALM_BYTES = 16 * 2 ** 20;

/** How long a larger one waits for readers, milliseconds: longer than a turn of the serving thread's event loop. */
const SHORT_WAIT_MS = 100;

/** Above this size, which only filling reaches, a long read is waited for: the read threads and the survey end within. */
const LARGE_BYTES = 128 * 2 ** 20;
const LONG_WAIT_MS = 15_000;

/** SQLite's header in front of each page of the log, bytes. */
const FRAME_HEADER = 24;

interface Counts {
  /** 1 when readers were in the way. */
  busy: number;
  /** Pages in the log. */
  log: number;
}

export class WriteAheadLog {
  private readonly db: Db;
  private readonly look: Statement<[], Counts>;
  private readonly empty: Statement<[], Counts>;
  private readonly frameBytes: number;
  private readonly calmBytes: number;
  /** Above this size a wait is long. */
  private largeBytes = LARGE_BYTES;

  constructor(db: Db, calmBytes = CALM_BYTES) {
    this.db = db;
    this.calmBytes = calmBytes;
    this.look = db.prepare('PRAGMA wal_checkpoint(NOOP)');
    this.empty = db.prepare('PRAGMA wal_checkpoint(RESTART)');
    this.frameBytes = Number(db.pragma('page_size', { simple: true })) + FRAME_HEADER;
  }

  /** Bytes in the log. */
  bytes(): number {
    return (this.look.get()?.log ?? 0) * this.frameBytes;
  }

  /**
   * Called before a commit. A usual checkpoint gives way to readers, so that under constant ones the log would grow
   * from commit to commit. A large log is therefore emptied here, waiting until nobody reads from it. Readers
   * themselves never wait.
   */
  settle(): void {
    const bytes = this.bytes();
    if (bytes > this.calmBytes) this.wait(bytes);
  }

  private wait(bytes: number): void {
    const isLarge = bytes > this.largeBytes;
    const usual = this.db.pragma('busy_timeout', { simple: true });
    this.db.pragma(`busy_timeout = ${isLarge ? LONG_WAIT_MS : SHORT_WAIT_MS}`);
    const isEmpty = this.empty.get()?.busy === 0;
    this.db.pragma(`busy_timeout = ${usual}`);
    // Who reads for longer still, as a backup does, must not hold up every block: the log may double before the next wait.
    if (isEmpty) this.largeBytes = LARGE_BYTES;
    else if (isLarge) this.largeBytes = bytes * 2;
  }
}

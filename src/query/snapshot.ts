/**
 * Decides which commit the reads of one turn of the event loop see.
 *
 * About the SQL in this folder: parameters in WHERE are written `+?`, not `?`. The driver's SQLite is built with STAT4,
 * where a bare parameter that might change the plan makes SQLite prepare the statement again for every bound value: 5
 * to 20 µs more for a join or a range, several times the read itself. With the plus sign the planner ignores the value.
 * Plans do not depend on values here, because each uses one index.
 */
import { guarded } from '../lib/guard.ts';
import type { Hex } from '../lib/hex.ts';
import type { Rewrites } from '../model/rewrites.ts';
import type { Db, Statement } from '../store/open-database.ts';
import { prepareRewrites } from '../store/rewrites.ts';
import { BLOCK_HASH_PREFIX } from './blocks.ts';

/** The last block of the commit being read. */
export interface Head {
  number: number;
  /** Unix seconds. */
  timestamp: number;
  hash: Hex;
  /** First 8 bytes of the block's hash, hex: distinguishes blocks at the same height. */
  hashPrefix: string;
  /** First block of the index. */
  startBlock: number;
  /** Changes with every commit that this connection sees, even without blocks, such as one of token names. */
  revision: number;
  /** The same array as before as long as there is no new one. */
  rewrites: Rewrites;
}

/**
 * One read transaction per turn of the event loop: all answers of a turn come from one commit and share the
 * transaction's cost. It never outlasts a turn, so it does not block checkpoints.
 */
export class Snapshot {
  private readonly db: Db;
  private readonly begin: Statement;
  private readonly commit: Statement;
  private readonly readHead: Statement<[], Omit<Head, 'revision' | 'rewrites'>>;
  private readonly readRevision: Statement<[], number>;
  private readonly readRewrites: () => Rewrites;
  private current: Head | null = null;
  private isOpen = false;

  constructor(db: Db) {
    this.db = db;
    this.begin = db.prepare('BEGIN');
    this.commit = db.prepare('COMMIT');
    this.readRevision = db.prepare<[], number>('PRAGMA data_version').pluck();
    this.readRewrites = prepareRewrites(db);
    this.readHead = db.prepare(/* sql */ `
      SELECT blocks.number, timestamp, '0x' || lower(hex(hash)) AS hash, ${BLOCK_HASH_PREFIX} AS hashPrefix,
        start_block AS startBlock
      FROM blocks, chain ORDER BY blocks.number DESC LIMIT 1`);
  }

  /**
   * The head of this turn's commit, null while the index is empty. Statements run after this call see the same commit.
   */
  head(): Head | null {
    if (!this.isOpen) {
      this.begin.run();
      this.isOpen = true;
      setImmediate(this.releaseSafely);
      this.current = this.read();
    }
    return this.current;
  }

  /** The rewrites as of the last call of `head`. */
  get rewrites(): Rewrites {
    return this.current?.rewrites ?? [];
  }

  /**
   * Ends the transaction, so that later reads of this turn see the newest commit. Called on watermarks and on closing.
   */
  readonly release = (): void => {
    if (!this.isOpen) return;
    this.isOpen = false;
    try {
      this.commit.run();
    } catch {
      this.discard(); // a read failed and its caller got the error; SQLite repeats it here
    }
  };

  private readonly releaseSafely = guarded('end of a snapshot', this.release);

  /**
   * Ends the transaction after a failed read. SQLite may already have ended it, and then each later read of the turn
   * would see another commit. Also drops the cached pages, because a bad page would outlive the disk's fault.
   */
  discard(): void {
    this.isOpen = false;
    if (this.db.inTransaction) this.db.exec('ROLLBACK');
    this.db.pragma('shrink_memory');
  }

  /**
   * Ends the transaction when the read fails. Left open, it would present an earlier turn's head as the current one.
   */
  private read(): Head | null {
    try {
      const head = this.readHead.get();
      if (head === undefined) return null;
      return { ...head, revision: this.readRevision.get() ?? 0, rewrites: this.readRewrites() };
    } catch (error) {
      this.discard();
      throw error;
    }
  }
}

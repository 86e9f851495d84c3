/** The one writer of `index.db`. */
import { StorageError } from '../errors.ts';
import type { BlockBatch, UntracedBlocks } from '../types.ts';
import { Appender, type Commit } from './append.ts';
import { chainOf, hashAt, setChain, type Tip, tipOf } from './chain.ts';
import { Tables } from './changes.ts';
import { FilePlace } from './file-place.ts';
import { lockIndex, openIndexForWriting } from './index-file.ts';
import type { Db, Statement } from './open.ts';
import { QualityTable, type TokenQuality } from './quality.ts';
import { Rollback } from './rollback.ts';
import { type TokenMetadata, TokenMetadataTable, type UnreadToken } from './token-metadata.ts';
import { storageTrouble } from './trouble.ts';
import type { BlockRange } from './untraced.ts';
import { WriteAheadLog } from './wal.ts';
import type { WriterLock } from './writer-lock.ts';

/**
 * Reads and writes of the writer. Each throws StorageError when the disk or the file does not allow it for now; a
 * write that failed has changed nothing and can be tried again.
 */
export class IndexWriter {
  private readonly path: string;
  private readonly lock: WriterLock;
  private readonly db: Db;
  private readonly place: FilePlace;
  private readonly appender: Appender;
  private readonly rollbacks: Rollback;
  private readonly quality: QualityTable;
  private readonly metadata: TokenMetadataTable;
  private readonly tables: Tables;
  private readonly wal: WriteAheadLog;
  private readonly countTransfers: Statement<[], number>;
  /** What was read for the next commit. */
  private ahead: { batches: readonly BlockBatch[]; commit: Commit } | null = null;

  /** Opens or creates the file; throws FatalError when it is not a usable index. `cacheMb` bounds the page cache. */
  constructor(path: string, options: { cacheMb: number }) {
    this.path = path;
    this.lock = lockIndex(path);
    try {
      this.db = openIndexForWriting(path, options);
    } catch (error) {
      this.lock.release();
      throw error;
    }
    this.tables = new Tables(this.db);
    this.appender = new Appender(this.db, this.tables);
    this.rollbacks = new Rollback(this.db, this.tables);
    this.quality = new QualityTable(this.db);
    this.metadata = new TokenMetadataTable(this.db);
    this.wal = new WriteAheadLog(this.db);
    this.countTransfers = this.db.prepare<[], number>('SELECT ifnull(max(id), 0) FROM transfers').pluck();
    this.place = new FilePlace(path);
  }

  /** Throws StorageError when the file was removed or replaced since it was opened. */
  checkPlace(): void {
    this.place.check();
  }

  chain(): { chainId: number; startBlock: number } | null {
    return this.named(() => chainOf(this.db));
  }

  setChain(chainId: number, startBlock: number): void {
    this.write(() => setChain(this.db, chainId, startBlock));
  }

  head(): Tip | null {
    return this.named(() => tipOf(this.db));
  }

  hashAt(number: number): ReturnType<typeof hashAt> {
    return this.named(() => hashAt(this.db, number));
  }

  /** Transfers in the index. */
  transferCount(): number {
    return this.named(() => this.countTransfers.get() ?? 0);
  }

  /** The blocks that were appended without traces, null when there is none. */
  untraced(): UntracedBlocks | null {
    return this.named(() => this.tables.untraced.total());
  }

  /** Notes of blocks that they hold what traces give, as was found by comparing. */
  setTraced(range: BlockRange): void {
    const remove = this.db.transaction(() => this.tables.untraced.remove(range));
    this.write(() => remove.immediate());
  }

  /**
   * Reads what appending these batches is going to change: the half of the work that needs no lock. What the disk
   * refuses here it refuses `append` too, which tells.
   */
  prepare(batches: readonly BlockBatch[]): void {
    const commit = this.unlessRefused(() => this.appender.prepare(batches));
    this.ahead = commit && { batches, commit };
  }

  /**
   * Appends consecutive blocks that follow the head, all or none. Returns the bytes that are in the write-ahead log
   * then, by which the next commit should be sized; 0 when it is not known.
   */
  append(batches: readonly BlockBatch[]): number {
    this.settleLog();
    // A commit that failed half-way has counted already: another try begins with what the file holds.
    const prepared = this.ahead?.batches === batches ? this.ahead.commit : null;
    this.ahead = null;
    this.write(() => this.appender.write(prepared ?? this.appender.prepare(batches)));
    return this.logBytes();
  }

  /** Removes every block above `to` and all their traces. */
  rollback(to: number): void {
    const head = this.head();
    if (head === null) return;
    this.ahead = null;
    this.write(() => this.rollbacks.rollback(head.number, to));
    this.metadata.rolledBack(this.named(() => this.tables.tokens.lastId()));
  }

  /** What was found out about the balances of a token, null when it was not examined. */
  qualityOf(token: number): TokenQuality | null {
    return this.named(() => this.quality.get(token));
  }

  setQuality(token: number, found: TokenQuality): void {
    this.write(() => this.quality.set(token, found));
  }

  /** Token contracts to ask what they say of themselves; `now` in Unix seconds. */
  unreadTokens(now: number, limit: number): UnreadToken[] {
    return this.named(() => this.metadata.unread(now, limit));
  }

  saveMetadata(found: readonly TokenMetadata[]): void {
    const save = this.db.transaction(() => {
      for (const token of found) this.metadata.save(token);
    });
    this.write(() => save.immediate());
  }

  /**
   * Empties the WAL and closes. The serving thread's connection may be open still and cannot write, so the last close
   * would not do it. No PRAGMA optimize: its statistics make this driver's SQLite (STAT4) plan a range query anew for
   * every value bound.
   */
  close(): void {
    try {
      this.named(() => this.db.pragma('wal_checkpoint(TRUNCATE)'));
    } catch (error) {
      if (!(error instanceof StorageError)) throw error; // what a full disk keeps in the WAL is read from there
    }
    this.db.close();
    this.lock.release();
  }

  /** From now on somebody else moves the log into the file after commits (checkpoint.ts). */
  leaveCheckpoints(): void {
    this.db.pragma('wal_autocheckpoint = 0');
  }

  /** A disk that does not take the log's pages now leaves them in the log, where they are read: nothing is lost. */
  private settleLog(): void {
    this.unlessRefused(() => this.wal.settle());
  }

  private logBytes(): number {
    return this.unlessRefused(() => this.wal.bytes()) ?? 0;
  }

  /** What the action returns; null when the disk refuses it for now. */
  private unlessRefused<T>(action: () => T): T | null {
    try {
      return this.named(action);
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
      return null;
    }
  }

  private write(action: () => void): void {
    this.place.check();
    this.named(action);
  }

  /** Runs an action; a failure of SQLite gets the name by which it is dealt with. */
  private named<T>(action: () => T): T {
    try {
      return action();
    } catch (error) {
      throw storageTrouble(error, this.path);
    }
  }
}

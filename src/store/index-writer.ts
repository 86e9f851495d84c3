/** The only writer of `index.db`. */
import { StorageError } from '../lib/errors.ts';
import type { Hex } from '../lib/hex.ts';
import type { BlockBatch } from '../model/block-batch.ts';
import type { GapKind, GapTotals } from '../model/block-gap.ts';
import { newRules, type StoredRules } from '../model/index-rules.ts';
import type { SkippedTotals } from '../model/skipped-logs.ts';
import type { TradeRules } from '../model/trade-rules.ts';
import { Appender } from './append.ts';
import { type BlockRange, gapsBetween } from './block-gaps.ts';
import { prepareTimeOf } from './block-times.ts';
import { chainOf, hashAt, prepareLastBlock, setChain, type Tip } from './chain.ts';
import type { ChainAnchors } from './chain-anchors.ts';
import type { Commit } from './commit/commit.ts';
import type { OnStep } from './commit/on-step.ts';
import { Tables } from './commit/tables.ts';
import type { DerivedEnd } from './derived-structure.ts';
import { FileIdentity, type WriterLock } from './file-guard.ts';
import { acquireIndexLock, clearDamage, markDamaged, openIndexForWriting } from './index-file.ts';
import { areRulesWhole, readRules, writeRules } from './index-rules.ts';
import type { Db } from './open-database.ts';
import type { OpenRewrite } from './rewrites.ts';
import { Rollback } from './rollback.ts';
import { toOpenError, toStorageError } from './storage-error.ts';
import { BalanceAccuracyTable, type TokenBalanceAccuracy } from './tokens/balance-accuracy.ts';
import {
  type ReadToken,
  type TokenMetadata,
  TokenMetadataTable,
  type UnreadToken,
} from './tokens/token-metadata.ts';
import { WriteAheadLog } from './wal.ts';
import { type UnreadCode, WalletCodeTable } from './wallet-code.ts';

/** Blocks of a gap that are proved complete per transaction. */
const BLOCKS_PER_STEP = 100;

/**
 * The indexer thread's reads and writes. Each throws StorageError on a transient failure of the disk or the file. A
 * failed write has changed nothing and can be retried.
 */
export class IndexWriter {
  private readonly path: string;
  /** Null when the caller holds the lock. */
  private readonly lock: WriterLock | null;
  private readonly db: Db;
  private readonly fileIdentity: FileIdentity;
  private readonly appender: Appender;
  private readonly rollbacks: Rollback;
  private readonly quality: BalanceAccuracyTable;
  private readonly metadata: TokenMetadataTable;
  private readonly code: WalletCodeTable;
  private readonly tables: Tables;
  private readonly wal: WriteAheadLog;
  /** Prepared, because background loops ask for the head many times a second. */
  private readonly lastBlock: ReturnType<typeof prepareLastBlock>;
  /** The next commit, prepared but not written. */
  private prepared: { batches: readonly BlockBatch[]; commit: Commit } | null = null;

  /**
   * Opens or creates the file. Throws FatalError when it is not a usable index. `cacheMb` bounds the page cache.
   * `isLockHeld`: another thread of this process holds the writer lock for the life of this writer. `pagesPerFold`: see
   * counterparty-sums.ts; only tests pass it.
   */
  constructor(path: string, options: { cacheMb: number; isLockHeld?: boolean; pagesPerFold?: number }) {
    this.path = path;
    this.lock = options.isLockHeld ? null : acquireIndexLock(path);
    let db: Db | undefined;
    try {
      db = openIndexForWriting(path, options);
      this.db = db;
      this.tables = new Tables(db, options.pagesPerFold);
      this.appender = new Appender(db, this.tables);
      this.rollbacks = new Rollback(db, this.tables);
      this.quality = new BalanceAccuracyTable(db);
      this.metadata = new TokenMetadataTable(db);
      this.code = new WalletCodeTable(db);
      this.wal = new WriteAheadLog(db);
      this.lastBlock = prepareLastBlock(db);
      this.fileIdentity = new FileIdentity(path);
    } catch (error) {
      db?.close();
      this.lock?.release();
      throw toOpenError(path, error); // preparing a statement fails when a table is missing
    }
  }

  /** Throws StorageError when the file was removed or replaced after it was opened. */
  checkFileIdentity(): void {
    this.fileIdentity.check();
  }

  chain(): { chainId: number; startBlock: number } | null {
    return this.withStorageErrors(() => chainOf(this.db));
  }

  /** Call it before appending a block. `rules`: of the index; only tests leave them to the defaults. */
  setChain(
    chainId: number,
    startBlock: number,
    rules: StoredRules = newRules({ chainId, monad: false, configured: {} }),
  ): void {
    const set = this.db.transaction(() => {
      setChain(this.db, chainId, startBlock);
      writeRules(this.db, rules);
    });
    this.write(() => set.immediate());
  }

  /** What counts as a transfer in this index, null until `setChain`. */
  rules(): StoredRules | null {
    return this.withStorageErrors(() => readRules(this.db));
  }

  /** Whether the rules are there and match their checksum. */
  areRulesWhole(): boolean {
    return this.withStorageErrors(() => areRulesWhole(this.db));
  }

  /** Completes the rules of an index of an earlier release, or replaces damaged ones. */
  setRules(rules: StoredRules): void {
    this.write(() => writeRules(this.db, rules));
  }

  head(): Tip | null {
    return this.withStorageErrors(() => this.lastBlock());
  }

  /** The latest timestamp of all blocks, Unix seconds; 0 while there are none. */
  latestTime(): number {
    return this.withStorageErrors(() => prepareTimeOf(this.db)(this.lastBlock()?.number ?? -1));
  }

  hashAt(number: number): ReturnType<typeof hashAt> {
    return this.withStorageErrors(() => hashAt(this.db, number));
  }

  /** The facts a node must agree with before a reorg may remove blocks. */
  anchors(): ChainAnchors {
    return this.withStorageErrors(() => this.tables.anchors.read());
  }

  /** Whether the anchors match their checksum. */
  areAnchorsWhole(): boolean {
    return this.withStorageErrors(() => this.tables.anchors.isWhole());
  }

  /** Replaces all anchors and writes a valid checksum. */
  setAnchors(anchors: ChainAnchors): void {
    this.write(() => this.tables.anchors.set(anchors));
  }

  /** Records the hash of block 0; null clears it. */
  setGenesis(hash: Hex | null): void {
    this.write(() => this.tables.anchors.setGenesis(hash));
  }

  /** Records the highest indexed block that a node proved final, null for none. */
  setFinalized(number: number | null): void {
    this.write(() => this.tables.anchors.setFinalized(number));
  }

  /**
   * Records the head before a rollback, null to clear it. It bounds the depth of the whole reorg, even across a kill.
   */
  setReorgFrom(number: number | null): void {
    this.write(() => this.tables.anchors.setReorgFrom(number));
  }

  /** All gaps of a kind, null when there are none. */
  gaps(kind: GapKind): GapTotals | null {
    return this.withStorageErrors(() => this.tables.blockGaps.total(kind));
  }

  /** What the index has skipped, null when the disk fails. */
  skippedLogs(): SkippedTotals | null {
    return this.nullOnStorageError(() => this.tables.skippedLogs.totals());
  }

  /** Removes blocks from the gaps of a kind after a comparison proved them complete: now their trades count. */
  setComplete(kind: GapKind, range: BlockRange): void {
    const { blockGaps, derived } = this.tables;
    const remove = this.db.transaction((blocks: BlockRange) => {
      blockGaps.remove(kind, blocks);
      derived.addComplete(blocks);
    });
    for (const gap of this.withStorageErrors(() => gapsBetween(this.db, range)))
      if (gap.kind === kind)
        for (let { first } = gap; first <= gap.last; first += BLOCKS_PER_STEP)
          this.write(() =>
            remove.immediate({ first, last: Math.min(gap.last, first + BLOCKS_PER_STEP - 1) }),
          );
  }

  /**
   * Prepares the commit of these batches: half of the work, and without a lock. Ignores disk failures, because `append`
   * hits the same ones and throws.
   */
  prepare(batches: readonly BlockBatch[], onStep?: OnStep): void {
    const commit = this.nullOnStorageError(() => this.appender.prepare(batches, onStep));
    this.prepared = commit && { batches, commit };
  }

  /**
   * Appends consecutive blocks after the head, all or none. Returns the WAL's size in bytes, which sizes the next
   * commit; 0 when unknown. Calls `onStep` often; if it throws, the index stays as it was.
   */
  append(batches: readonly BlockBatch[], onStep?: OnStep): number {
    this.checkpointWalIfLarge();
    // A commit that failed half-way has changed its counters in memory, so a retry reads the file again.
    const prepared = this.prepared?.batches === batches ? this.prepared.commit : null;
    this.prepared = null;
    this.write(() => this.appender.write(prepared ?? this.appender.prepare(batches, onStep)));
    return this.walBytes();
  }

  /** Memory used by the changes of the last commit, bytes. */
  get changesBytes(): number {
    return this.appender.changesBytes;
  }

  /** Removes every block above `to` and all data derived from them. */
  rollback(to: number): void {
    while (!this.rollbackStep(to));
  }

  /**
   * Removes blocks above `to` with all derived data, newest first, for about a second. Returns whether `to` is reached.
   * `rewrite`: the blocks are to be read again, although no reorg has replaced them.
   */
  rollbackStep(to: number, rewrite?: OpenRewrite): boolean {
    const head = this.head();
    if (head === null || head.number <= to) return true;
    this.checkpointWalIfLarge();
    let isDone = false;
    this.write(() => {
      isDone = this.rollbacks.step(head.number, to, rewrite);
    });
    this.metadata.rollback(this.withStorageErrors(() => this.tables.tokens.lastId()));
    return isDone;
  }

  /** What does not follow from all transfers yet (derived.ts). */
  incompleteDerived(): DerivedEnd[] {
    return this.withStorageErrors(() => this.tables.derived.incomplete(this.lastBlock()?.lastTransfer ?? 0));
  }

  /**
   * Adds about this many of the next transfers to what does not follow from all of them yet, or deletes as many former
   * rows. Returns as `append`; null once nothing is left to do.
   */
  deriveStep(transfers: number): number | null {
    this.checkpointWalIfLarge();
    let isDone = false;
    const step = this.db.transaction(() => {
      isDone = !this.tables.derived.step(this.lastBlock()?.lastTransfer ?? 0, transfers);
    });
    this.write(() => step.immediate());
    return isDone ? null : this.walBytes();
  }

  /** The lists by which trades are told, and those that are to take their place (trades/trade-generations.ts). */
  tradeRules(): { current: TradeRules | null; next: TradeRules | null } {
    return this.withStorageErrors(() => {
      const { current, next } = this.tables.derived.trades.generations.read();
      return { current: current?.rules ?? null, next: next?.rules ?? null };
    });
  }

  /** Sets the lists by which trades are told. The sums of trades by other ones are built in steps. */
  setTradeRules(rules: TradeRules): void {
    const set = this.db.transaction(() => this.tables.derived.setTradeRules(rules));
    this.write(() => set.immediate());
  }

  /** Records that the blocks from `first` to the head are not what they were, though their hashes are. */
  recordRewrite(first: number): void {
    const head = this.head()?.number ?? first;
    const record = this.db.transaction(() => this.tables.rewrites.record(first, head));
    this.write(() => record.immediate());
  }

  /** Marks the file as damaged. No daemon starts on it until `clearDamage`. */
  markDamaged(reason: string): void {
    this.write(() => markDamaged(this.db, reason));
  }

  clearDamage(): void {
    this.write(() => clearDamage(this.db));
  }

  /** The last examination of a token's balances, null if there was none. */
  balanceAccuracyOf(token: number): TokenBalanceAccuracy | null {
    return this.withStorageErrors(() => this.quality.get(token));
  }

  setBalanceAccuracy(token: number, found: TokenBalanceAccuracy): void {
    this.write(() => this.quality.set(token, found));
  }

  /** Token contracts whose metadata is due to be read. `now` in Unix seconds. */
  unreadTokens(now: number, limit: number): UnreadToken[] {
    return this.withStorageErrors(() => this.metadata.unread(now, limit));
  }

  /** A token whose metadata was read before; undefined for any other contract. */
  readToken(address: Hex): ReadToken | undefined {
    return this.withStorageErrors(() => this.metadata.read(address));
  }

  /** Whether a token logs ERC-20 transfers soon after its first transfer. */
  logsUnits(address: Hex): boolean {
    return this.withStorageErrors(() => this.metadata.logsUnits(address));
  }

  saveMetadata(found: readonly TokenMetadata[]): void {
    const save = this.db.transaction(() => {
      for (const token of found) this.metadata.save(token);
    });
    this.write(() => save.immediate());
  }

  /** Those of the wallets whose code is to be read. */
  unreadCode(wallets: readonly number[]): UnreadCode[] {
    return this.withStorageErrors(() => this.code.unread(wallets, this.lastBlock()?.number ?? 0));
  }

  /** `contracts`: wallets and whether each is a contract. `block`: head of the index when their code was read. */
  saveCode(contracts: ReadonlyMap<number, boolean>, block: number): void {
    const save = this.db.transaction(() => {
      for (const [wallet, isContract] of contracts) this.code.save(wallet, isContract, block);
    });
    this.write(() => save.immediate());
  }

  /**
   * Empties the WAL and closes. It checkpoints explicitly because SQLite does so on close only if no other connection
   * is open. No PRAGMA optimize: with its statistics this driver's SQLite (STAT4) plans a range query again for every
   * bound value.
   */
  close(): void {
    try {
      // On a full disk the pages stay in the WAL and are read from there.
      this.nullOnStorageError(() => this.db.pragma('wal_checkpoint(TRUNCATE)'));
    } finally {
      this.db.close();
      this.lock?.release();
    }
  }

  /** Leaves checkpoints to another connection (Checkpointer in wal.ts). */
  disableAutoCheckpoint(): void {
    this.db.pragma('wal_autocheckpoint = 0');
  }

  /** Ignores disk failures: the pages stay in the WAL and are read from there. */
  private checkpointWalIfLarge(): void {
    this.nullOnStorageError(() => this.wal.checkpointIfLarge());
  }

  private walBytes(): number {
    return this.nullOnStorageError(() => this.wal.sizeBytes()) ?? 0;
  }

  /** The result of the action, null on a transient disk failure. */
  private nullOnStorageError<T>(action: () => T): T | null {
    try {
      return this.withStorageErrors(action);
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
      return null;
    }
  }

  private write(action: () => void): void {
    this.fileIdentity.check();
    this.withStorageErrors(action);
  }

  /** Runs an action and translates SQLite's errors into the classes that callers handle. */
  private withStorageErrors<T>(action: () => T): T {
    try {
      return action();
    } catch (error) {
      throw toStorageError(error, this.path);
    }
  }
}

/**
 * Pushes transfers to their watchers as they are committed: first, if requested, the indexed ones from a block on
 * (replay), then live ones; those that a reorg removes are pushed again as removed.
 *
 * Near the head the writer announces the blocks that it is about to commit. What concerns live watchers is looked for
 * in them while it writes, so that the watermark has it pushed at once.
 *
 * All other transfers are read from the index; the writer's watermarks say up to where. The index may already be ahead of
 * the last watermark, or even rolled back. So a turn reads only if its snapshot contains the exact block that the
 * watermark named: ids up to its end then mean the same as for the writer. Otherwise reading waits; the watermark that
 * explains the difference is on its way.
 */
import type { Logger } from '../log.ts';
import type { EventRow } from '../query/events.ts';
import type { LastIds } from '../query/last-ids.ts';
import type { ScannedTransfer } from '../query/scan.ts';
import type { StreamReads } from '../query/stream-reads.ts';
import type { BlockRef, CommittingBlocks, Watermark } from '../types.ts';
import { AnnouncedTransfers } from './announced-transfers.ts';
import { CloseCode } from './close-code.ts';
import { DEEP_REORG } from './close-frames.ts';
import { PushedTransfers } from './pushed-transfers.ts';
import { ReplayQueue } from './replay-queue.ts';
import type { StreamMetrics, Unsubscribe } from './session.ts';
import { indexRollingBack } from './subscribe-errors.ts';
import { MAX_TURN_MS, SCANNED_PER_STEP } from './turn-limits.ts';
import { TransferEvent, type Watcher } from './watcher.ts';
import { WatcherIndex } from './watcher-index.ts';

/** Transfers scanned by id at a time when every one is pushed. */
const ALL_PER_STEP = 100;
/** Full rows read and pushed at a time: clients get the first transfers of a block before the last are read. */
const EVENTS_PER_STEP = 16;
/** New wallets compared with watched addresses at a time. */
const WALLETS_PER_STEP = 2_000;
/** How long a subscribe waits for the index to be where the last watermark says, milliseconds. */
const VERIFY_MS = 10_000;

export interface TransferStreamOptions {
  reads: StreamReads;
  /** Symbol of the chain's own coin. */
  nativeSymbol: string;
  metrics: StreamMetrics;
  log: Logger;
}

/** A transfer, and who may want it. */
interface TransferMatch {
  id: number;
  watchers: readonly Watcher[];
}

/** The work of one turn of the event loop, all read from one commit. */
interface Turn {
  steps: Iterator<void>;
  /** By performance.now(). */
  deadline: number;
}

export class TransferStream {
  private readonly options: TransferStreamOptions;
  private readonly reads: StreamReads;
  /** Watchers past their replay, if any: they get each commit. */
  private readonly live = new WatcherIndex();
  private readonly replays: ReplayQueue;
  private readonly pushed = new PushedTransfers((row) => this.recipientsOf(row));
  /** The last block of the last watermark; null while the index is empty. */
  private watermarkBlock: BlockRef | null;
  /** Unix milliseconds of the last commit, and of the oldest commit that was pushed from but whose age is unmeasured. */
  private committedAt: number | null = null;
  private unmeasuredSince: number | null = null;
  /** First transfer not yet pushed live; undefined while there are no live watchers. */
  private nextLiveId: number | undefined;
  /** The blocks announced last; null when what they bring must be read from the index, or nobody wants it. */
  private announced: AnnouncedTransfers | null = null;
  /** Wallets up to this id were compared with the watched addresses. */
  private lastResolvedWallet = 0;
  /** Lowest block rolled back to since `applyRollback` last ran. */
  private rolledBackTo: number | null = null;
  /** Callbacks that wait for the next watermark. */
  private readonly watermarkWaiters = new Set<() => void>();
  private scheduled = false;
  /** The last turn. */
  private currentTurn: Turn | null = null;
  private closed = false;
  private chainId: number | undefined;

  /** Construct it before the writer starts, so that no watermark is missed. */
  constructor(options: TransferStreamOptions) {
    this.options = options;
    this.reads = options.reads;
    this.replays = new ReplayQueue({
      reads: options.reads,
      onResume: () => this.schedule(),
      publish: (row, watcher) => this.publishReplayed(row, watcher),
    });
    this.watermarkBlock = this.reads.lastBlock();
  }

  /** Begins to push to a watcher: everything from its `fromBlock` on, or what is committed from now on. */
  async subscribe(watcher: Watcher): Promise<Unsubscribe> {
    const ends = await this.waitUntilVerified();
    if (watcher.fromBlock !== null) {
      const { lastTransfer } = this.reads.lastIdsUpTo(watcher.fromBlock - 1);
      // The index may be ahead of the watermark, and live watchers begin where that ends.
      watcher.firstId = watcher.nextId = Math.min(lastTransfer, ends.lastTransfer) + 1;
      this.replays.add(watcher);
    } else {
      watcher.firstId = watcher.nextId = ends.lastTransfer + 1;
      this.goLive(watcher, ends);
    }
    return () => this.remove(watcher);
  }

  /** Handles the announcement of a commit, whose watermark follows unless it fails. */
  onCommitting(blocks: CommittingBlocks): void {
    this.announced = null;
    // If it does not fit, nobody is live, or what comes before is not all pushed.
    if (this.closed || this.nextLiveId !== blocks.firstTransfer) return;
    try {
      this.reads.snapshot.head();
      const announced = new AnnouncedTransfers(blocks, {
        watchers: this.live,
        symbols: this.reads.tokenSymbols,
        chainInfo: this.chainInfo(),
      });
      announced.prepare(performance.now() + MAX_TURN_MS);
      this.announced = announced;
    } catch (error) {
      this.options.log.warn({ err: error }, 'what a commit will bring is read from the index after it');
    }
  }

  /** Handles a commit or a rollback. Call it with every watermark, after the snapshot is released. */
  onWatermark(mark: Watermark): void {
    if (mark.kind === 'committed') {
      this.watermarkBlock = { number: mark.to, hash: mark.hash };
      this.committedAt = mark.committedAt;
    } else {
      this.watermarkBlock = mark.hash === null ? null : { number: mark.to, hash: mark.hash };
      this.rolledBackTo = Math.min(this.rolledBackTo ?? mark.to, mark.to);
      this.publishRemoved(mark.to);
    }
    for (const resume of this.watermarkWaiters) resume();
    this.watermarkWaiters.clear();
    this.runTurn();
  }

  close(): void {
    this.closed = true;
  }

  private goLive(watcher: Watcher, ends: LastIds): void {
    if (!this.live.hasUnresolved) this.lastResolvedWallet = ends.lastWallet;
    this.live.add(watcher, this.reads.walletId);
    this.announced = this.announced?.restarted() ?? null; // what was found so far leaves this one out
    this.nextLiveId ??= watcher.nextId;
  }

  private remove(watcher: Watcher): void {
    watcher.ended = true;
    this.live.delete(watcher);
    this.replays.delete(watcher);
    if (this.live.all.size === 0) {
      this.nextLiveId = undefined;
      this.announced = null;
      this.unmeasuredSince = null; // nothing would end it before the next client comes
    }
    if (this.live.all.size + this.replays.size === 0) this.pushed.clear();
  }

  /** The last ids of the commit that the last watermark named, if this turn reads it; ids are valid up to them. */
  private verifySnapshot(): LastIds | undefined {
    this.reads.snapshot.head();
    const ends =
      this.watermarkBlock === null
        ? { lastTransfer: 0, lastWallet: 0 }
        : this.reads.lastIdsAt(this.watermarkBlock);
    if (ends !== undefined && this.rolledBackTo !== null)
      this.applyRollback(this.reads.lastIdsUpTo(this.rolledBackTo));
    return ends;
  }

  /** After a rollback: ids above these are reassigned, now or later. */
  private applyRollback({ lastTransfer, lastWallet }: LastIds): void {
    this.rolledBackTo = null;
    const first = lastTransfer + 1;
    if (this.nextLiveId !== undefined) this.nextLiveId = Math.min(this.nextLiveId, first);
    this.lastResolvedWallet = Math.min(this.lastResolvedWallet, lastWallet);
    this.live.invalidateIdsAbove(lastWallet);
    this.reads.invalidateWalletsAbove(lastWallet);
    for (const watcher of this.watchers()) {
      watcher.firstId = Math.min(watcher.firstId, first);
      watcher.nextId = Math.min(watcher.nextId, first);
    }
    this.replays.restart();
  }

  private async waitUntilVerified(): Promise<LastIds> {
    const deadline = performance.now() + VERIFY_MS;
    for (;;) {
      const ends = this.verifySnapshot();
      if (ends !== undefined) return ends;
      if (performance.now() > deadline) throw indexRollingBack();
      await this.waitForWatermark(deadline - performance.now());
    }
  }

  private async waitForWatermark(timeoutMs: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.watermarkWaiters.add(resolve);
    const timer = setTimeout(resolve, timeoutMs).unref();
    await promise;
    clearTimeout(timer);
    this.watermarkWaiters.delete(resolve);
  }

  private schedule(): void {
    if (this.scheduled || this.closed) return;
    this.scheduled = true;
    setImmediate(() => {
      this.scheduled = false;
      this.runTurn();
    });
  }

  /** Works for up to MAX_TURN_MS on whatever is pending. */
  private runTurn(): void {
    this.runGuarded(() => {
      const deadline = performance.now() + MAX_TURN_MS;
      this.currentTurn = { steps: this.publishPending(deadline), deadline };
      this.continueTurn(this.currentTurn);
    });
  }

  /** Pushes what was committed to live watchers, then indexed transfers to those being replayed, until the deadline. */
  private *publishPending(deadline: number): Generator<void, void, void> {
    yield* this.publishAnnounced();
    const ends = this.verifySnapshot();
    if (ends === undefined) return;
    yield* this.publishLive(ends);
    const limits = {
      below: () => Math.min(this.nextLiveId ?? Number.POSITIVE_INFINITY, ends.lastTransfer + 1),
      onCaughtUp: (watcher: Watcher) => this.goLive(watcher, ends),
      deadline,
    };
    while (!this.replays.advance(limits)) yield;
  }

  /**
   * Does one step and queues the next as a microtask of the same turn, so that connections send in between. If another turn
   * began meanwhile, it continues instead, because it reads the current commit.
   */
  private continueTurn(turn: Turn): void {
    if (turn !== this.currentTurn) return;
    if (turn.steps.next().done === true) return;
    if (performance.now() > turn.deadline) this.schedule();
    else queueMicrotask(() => this.runGuarded(() => this.continueTurn(turn)));
  }

  private runGuarded(action: () => void): void {
    if (this.closed || this.live.all.size + this.replays.size === 0) return;
    try {
      action();
    } catch (error) {
      this.options.log.error({ err: error }, 'streams cannot read the index');
      for (const { subscription } of this.watchers())
        subscription.connection.close(CloseCode.internalError, 'internal error');
    }
  }

  /** Pushes the announced transfers to live watchers, if their commit was the last and all before it is pushed. */
  private *publishAnnounced(): Generator<void, void, void> {
    const { announced } = this;
    if (announced === null || announced.hash !== this.watermarkBlock?.hash || this.rolledBackTo !== null)
      return;
    while (this.nextLiveId === announced.next && announced.next <= announced.last) {
      const matches = announced.take(EVENTS_PER_STEP);
      for (const { event, watchers } of matches) this.publish(event, watchers);
      const reached = matches.length < EVENTS_PER_STEP ? announced.last : matches.at(-1)!.event.row.id;
      announced.next = reached + 1;
      this.nextLiveId = announced.next;
      yield;
    }
  }

  /** Pushes committed transfers to live watchers from the index, step by step. */
  private *publishLive(ends: LastIds): Generator<void, void, void> {
    yield* this.resolveNewWallets(ends);
    while (this.nextLiveId !== undefined && this.nextLiveId <= ends.lastTransfer) {
      const limit = this.live.wantsAll ? ALL_PER_STEP : SCANNED_PER_STEP;
      const rows = this.reads.scan(this.nextLiveId, ends.lastTransfer + 1, limit);
      const following = (rows.at(-1)?.id ?? ends.lastTransfer) + 1;
      for (const matches of this.matchesIn(rows)) {
        this.publishMatches(matches);
        const reached = matches.at(-1)!.id + 1;
        this.nextLiveId = reached;
        yield;
        if (this.nextLiveId !== reached) return; // for a moment there was no live watcher
      }
      this.nextLiveId = following;
    }
    this.observeAge();
  }

  /** The transfers that concern watchers, a few at a time. */
  private *matchesIn(rows: readonly ScannedTransfer[]): Generator<TransferMatch[], void, void> {
    let matches: TransferMatch[] = [];
    for (const row of rows) {
      const watchers = this.live.candidatesFor(row);
      if (watchers.length > 0) matches.push({ id: row.id, watchers });
      if (matches.length < EVENTS_PER_STEP) continue;
      yield matches;
      matches = [];
    }
    if (matches.length > 0) yield matches;
  }

  private publishMatches(matches: readonly TransferMatch[]): void {
    const events = this.reads.events(matches.map(({ id }) => id));
    for (const [i, row] of events.entries()) {
      this.publish(new TransferEvent(row, false, this.chainInfo()), matches[i]!.watchers);
    }
  }

  private publish(event: TransferEvent, watchers: readonly Watcher[]): void {
    const { row } = event;
    const notified = watchers.filter((watcher) => row.id >= watcher.nextId && watcher.notify(event));
    if (notified.length === 0) return;
    this.unmeasuredSince ??= this.committedAt;
    this.pushed.add(row, notified, this.watermarkBlock?.number ?? 0);
  }

  private publishReplayed(row: EventRow, watcher: Watcher): void {
    if (!watcher.notify(new TransferEvent(row, false, this.chainInfo()))) return;
    this.pushed.add(row, [watcher], this.watermarkBlock?.number ?? 0);
  }

  /** Assigns the ids of new wallets to watched addresses, step by step. */
  private *resolveNewWallets(ends: LastIds): Generator<void, void, void> {
    while (this.live.hasUnresolved && this.lastResolvedWallet < ends.lastWallet) {
      const wallets = this.reads.walletsAfter(this.lastResolvedWallet, ends.lastWallet, WALLETS_PER_STEP);
      this.live.resolve(wallets);
      this.lastResolvedWallet = wallets.length < WALLETS_PER_STEP ? ends.lastWallet : wallets.at(-1)!.id;
      if (this.lastResolvedWallet < ends.lastWallet) yield;
    }
  }

  /** Pushes again, as removed and newest first, the pushed transfers of blocks above `to`. */
  private publishRemoved(to: number): void {
    for (const row of this.pushed.takeAbove(to)) {
      const event = new TransferEvent(row, true, this.chainInfo());
      for (const watcher of this.recipientsOf(row)) watcher.notify(event);
    }
    for (const { evictedBlock, subscription } of this.watchers()) {
      if (evictedBlock > to) subscription.connection.close(...DEEP_REORG);
    }
  }

  /** The watchers that got a pushed transfer to look at; a live watcher got all that concern it from its `firstId` on. */
  private recipientsOf(row: EventRow): Watcher[] {
    const recipients = this.live.candidatesByAddress(row).filter(({ firstId }) => row.id >= firstId);
    for (const watcher of this.replays.watchers()) {
      if (row.id >= watcher.firstId && row.id < watcher.nextId) recipients.push(watcher);
    }
    return recipients;
  }

  private watchers(): Watcher[] {
    return [...this.live.all, ...this.replays.watchers()];
  }

  private chainInfo() {
    this.chainId ??= this.reads.chainId();
    return { chainId: this.chainId ?? 0, nativeSymbol: this.options.nativeSymbol };
  }

  private observeAge(): void {
    if (this.unmeasuredSince === null) return;
    const seconds = (performance.timeOrigin + performance.now() - this.unmeasuredSince) / 1000;
    this.unmeasuredSince = null;
    this.options.metrics.pushAge.observe({ topic: 'transfers' }, Math.max(0, seconds));
  }
}

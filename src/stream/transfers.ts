/**
 * Pushes transfers to their watchers as they are committed: first, if requested, the indexed ones from a block on
 * (replay), then live ones; those that a reorg removes are pushed again as removed.
 *
 * Transfers are read from the index; the writer's watermarks say up to where. The index may already be ahead of the last
 * watermark, or even rolled back. So a turn reads only if its snapshot contains the exact block that the watermark
 * named: ids up to its end then mean the same as for the writer. Otherwise reading waits; the watermark that explains
 * the difference is on its way.
 */
import type { Logger } from '../log.ts';
import type { CommitEnds } from '../query/commits.ts';
import type { EventRow } from '../query/events.ts';
import type { ScannedTransfer } from '../query/scan.ts';
import type { StreamReads } from '../query/stream-reads.ts';
import type { BlockRef, Watermark } from '../types.ts';
import { CloseCode } from './close-code.ts';
import { DEEP_REORG } from './closing.ts';
import { PushedTransfers } from './pushed.ts';
import { indexChanging } from './refusals.ts';
import { replay } from './replay.ts';
import type { End, StreamMetrics } from './session.ts';
import { SCANNED_PER_STEP, TURN_MS } from './turn.ts';
import { WatchIndex } from './watch-index.ts';
import { TransferEvent, type Watcher } from './watcher.ts';

/** Transfers scanned by id at a time when every one is pushed. */
const ALL_PER_STEP = 100;
/** Full rows read and pushed at a time: clients get the first transfers of a block before the last are read. */
const EVENTS_PER_STEP = 16;
/** New wallets compared with watched addresses at a time. */
const WALLETS_PER_STEP = 2_000;
/** How long a subscribe waits for the index to be where the last watermark says, milliseconds. */
const VERIFY_MS = 10_000;
/** A replay waits while its client's backlog is larger than this, bytes. */
const REPLAY_BACKLOG = 256 * 1024;

export interface TransfersOptions {
  reads: StreamReads;
  /** Symbol of the chain's own coin. */
  nativeSymbol: string;
  metrics: StreamMetrics;
  log: Logger;
}

/** A transfer, and who may want it. */
interface Hit {
  id: number;
  watchers: readonly Watcher[];
}

/** A watcher that is being replayed indexed transfers. */
interface Replaying {
  watcher: Watcher;
  steps: Generator<EventRow[], void, void> | null;
  /** Where `steps` ends. */
  below: number;
  /** Whether it waits for the subscribe reply, or for the client's backlog to drain. */
  waiting: boolean;
}

/** The work of one turn of the event loop, all read from one commit. */
interface Turn {
  ends: CommitEnds;
  /** Pushes to the live watchers. */
  steps: Iterator<void>;
  /** By performance.now(). */
  deadline: number;
}

export class Transfers {
  private readonly options: TransfersOptions;
  private readonly reads: StreamReads;
  /** Watchers past their replay, if any: they get each commit. */
  private readonly live = new WatchIndex();
  private readonly replaying = new Set<Replaying>();
  private readonly pushed = new PushedTransfers((row) => this.handedTo(row));
  /** The last block of the last watermark; null while the index is empty. */
  private tip: BlockRef | null;
  /** Unix milliseconds of the last commit, and of the oldest commit that was pushed from but whose age is unmeasured. */
  private committedAt: number | null = null;
  private toldSince: number | null = null;
  /** First transfer not yet pushed live; undefined while there are no live watchers. */
  private next: number | undefined;
  /** Wallets up to this id were compared with the watched addresses. */
  private knownWallets = 0;
  /** Lowest block rolled back to since `putRight` last ran. */
  private cut: number | null = null;
  /** Callbacks that wait for the next watermark. */
  private readonly waiting = new Set<() => void>();
  private scheduled = false;
  /** The last turn; null when the index was not where the last watermark says. */
  private present: Turn | null = null;
  private closed = false;
  private chainId: number | undefined;

  /** Construct it before the writer starts, so that no watermark is missed. */
  constructor(options: TransfersOptions) {
    this.options = options;
    this.reads = options.reads;
    this.tip = this.reads.lastBlock();
  }

  /** Begins to push to a watcher: everything from `fromBlock` on when `replayed`, else what is committed from now on. */
  async open(watcher: Watcher, replayed: boolean): Promise<End> {
    const ends = await this.nextVerifiedTurn();
    if (replayed) {
      watcher.first = watcher.next = this.reads.endsUpTo(watcher.fromBlock - 1).lastTransfer + 1;
      this.beginReplay(watcher);
    } else {
      watcher.first = watcher.next = ends.lastTransfer + 1;
      this.join(watcher, ends);
    }
    return () => this.end(watcher);
  }

  /** Handles a commit or a rollback. Call it with every watermark, after the snapshot is released. */
  onWatermark(mark: Watermark): void {
    if (mark.kind === 'committed') {
      this.tip = { number: mark.to, hash: mark.hash };
      this.committedAt = mark.committedAt;
    } else {
      this.tip = mark.hash === null ? null : { number: mark.to, hash: mark.hash };
      this.cut = Math.min(this.cut ?? mark.to, mark.to);
      this.withdraw(mark.to);
    }
    for (const resume of this.waiting) resume();
    this.waiting.clear();
    this.turn();
  }

  close(): void {
    this.closed = true;
  }

  private beginReplay(watcher: Watcher): void {
    const entry: Replaying = { watcher, steps: null, below: 0, waiting: true };
    this.replaying.add(entry);
    watcher.subscription.onRelease(() => this.resume(entry));
  }

  private resume(entry: Replaying): void {
    entry.waiting = false;
    this.schedule();
  }

  private join(watcher: Watcher, ends: CommitEnds): void {
    if (!this.live.hasUnknown) this.knownWallets = ends.lastWallet;
    this.live.add(watcher, this.reads.walletId);
    this.next ??= watcher.next;
  }

  private end(watcher: Watcher): void {
    watcher.ended = true;
    this.live.delete(watcher);
    for (const entry of this.replaying) if (entry.watcher === watcher) this.replaying.delete(entry);
    if (this.live.all.size === 0) this.next = undefined;
    if (this.live.all.size + this.replaying.size === 0) this.pushed.clear();
  }

  /** The last ids of the commit that the last watermark named, if this turn reads it; ids are valid up to them. */
  private verify(): CommitEnds | undefined {
    this.reads.snapshot.head();
    const ends = this.tip === null ? { lastTransfer: 0, lastWallet: 0 } : this.reads.commitEnds(this.tip);
    if (ends !== undefined && this.cut !== null) this.putRight(this.reads.endsUpTo(this.cut));
    return ends;
  }

  /** After a rollback: ids above these are reassigned, now or later. */
  private putRight({ lastTransfer, lastWallet }: CommitEnds): void {
    this.cut = null;
    const first = lastTransfer + 1;
    if (this.next !== undefined) this.next = Math.min(this.next, first);
    this.knownWallets = Math.min(this.knownWallets, lastWallet);
    this.live.forgetIdsAbove(lastWallet);
    this.reads.forgetWalletsAbove(lastWallet);
    for (const watcher of this.watchers()) {
      watcher.first = Math.min(watcher.first, first);
      watcher.next = Math.min(watcher.next, first);
    }
    for (const entry of this.replaying) entry.steps = null;
  }

  private async nextVerifiedTurn(): Promise<CommitEnds> {
    const deadline = performance.now() + VERIFY_MS;
    for (;;) {
      const ends = this.verify();
      if (ends !== undefined) return ends;
      if (performance.now() > deadline) throw indexChanging();
      await this.nextWatermark(deadline - performance.now());
    }
  }

  private async nextWatermark(timeoutMs: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.waiting.add(resolve);
    const timer = setTimeout(resolve, timeoutMs).unref();
    await promise;
    clearTimeout(timer);
    this.waiting.delete(resolve);
  }

  private schedule(): void {
    if (this.scheduled || this.closed) return;
    this.scheduled = true;
    setImmediate(() => {
      this.scheduled = false;
      this.turn();
    });
  }

  /** Works for up to TURN_MS on whatever is pending. */
  private turn(): void {
    this.guarded(() => {
      const ends = this.verify();
      this.present =
        ends === undefined
          ? null
          : { ends, steps: this.advance(ends), deadline: performance.now() + TURN_MS };
      if (this.present !== null) this.goOn(this.present);
    });
  }

  /**
   * Does one step and queues the next as a microtask of the same turn, so that outlets send in between. If another turn
   * began meanwhile, it continues instead, because its `ends` are the current ones.
   */
  private goOn(turn: Turn): void {
    if (turn !== this.present) return;
    const done = turn.steps.next().done === true && this.replayOn(turn.ends, turn.deadline);
    if (done) return;
    if (performance.now() > turn.deadline) this.schedule();
    else queueMicrotask(() => this.guarded(() => this.goOn(turn)));
  }

  private guarded(action: () => void): void {
    if (this.closed || this.live.all.size + this.replaying.size === 0) return;
    try {
      action();
    } catch (error) {
      this.options.log.error({ err: error }, 'streams cannot read the index');
      for (const { subscription } of this.watchers())
        subscription.outlet.close(CloseCode.internalError, 'internal error');
    }
  }

  /** Pushes committed transfers to live watchers, step by step. */
  private *advance(ends: CommitEnds): Generator<void, void, void> {
    yield* this.identify(ends);
    while (this.next !== undefined && this.next <= ends.lastTransfer) {
      const limit = this.live.wantsAll ? ALL_PER_STEP : SCANNED_PER_STEP;
      const rows = this.reads.scan(this.next, ends.lastTransfer + 1, limit);
      const following = (rows.at(-1)?.id ?? ends.lastTransfer) + 1;
      for (const hits of this.hitsIn(rows)) {
        this.tellAll(hits);
        const reached = hits.at(-1)!.id + 1;
        this.next = reached;
        yield;
        if (this.next !== reached) return; // for a moment there was no live watcher
      }
      this.next = following;
    }
    this.observeAge();
  }

  /** The transfers that concern watchers, a few at a time. */
  private *hitsIn(rows: readonly ScannedTransfer[]): Generator<Hit[], void, void> {
    let hits: Hit[] = [];
    for (const row of rows) {
      const watchers = this.live.concerned(row);
      if (watchers.length > 0) hits.push({ id: row.id, watchers });
      if (hits.length < EVENTS_PER_STEP) continue;
      yield hits;
      hits = [];
    }
    if (hits.length > 0) yield hits;
  }

  private tellAll(hits: readonly Hit[]): void {
    const events = this.reads.events(hits.map(({ id }) => id));
    for (const [i, event] of events.entries()) this.tell(event, hits[i]!.watchers);
  }

  private tell(row: EventRow, watchers: readonly Watcher[]): void {
    const event = new TransferEvent(row, false, this.facts());
    const told = watchers.filter((watcher) => row.id >= watcher.next && watcher.tell(event));
    if (told.length === 0) return;
    this.toldSince ??= this.committedAt;
    this.pushed.add(row, told, this.tip?.number ?? 0);
  }

  /** Assigns the ids of new wallets to watched addresses, step by step. */
  private *identify(ends: CommitEnds): Generator<void, void, void> {
    while (this.live.hasUnknown && this.knownWallets < ends.lastWallet) {
      const wallets = this.reads.walletsAfter(this.knownWallets, ends.lastWallet, WALLETS_PER_STEP);
      this.live.identify(wallets);
      this.knownWallets = wallets.length < WALLETS_PER_STEP ? ends.lastWallet : wallets.at(-1)!.id;
      if (this.knownWallets < ends.lastWallet) yield;
    }
  }

  /** Advances the replays in turn until the deadline. Returns true when none of them can advance now. */
  private replayOn(ends: CommitEnds, deadline: number): boolean {
    for (;;) {
      const ready = [...this.replaying].filter((entry) => !this.mustWait(entry));
      if (ready.length === 0) return true;
      for (const entry of ready) {
        this.replayStep(entry, ends);
        this.putLast(entry);
        if (performance.now() > deadline) return false;
      }
    }
  }

  /** Puts the entry last, so that the next turn begins with the others. */
  private putLast(entry: Replaying): void {
    if (this.replaying.delete(entry)) this.replaying.add(entry);
  }

  private mustWait(entry: Replaying): boolean {
    const { outlet } = entry.watcher.subscription;
    if (!entry.waiting && outlet.backlog > REPLAY_BACKLOG) {
      entry.waiting = true;
      outlet.whenDrained(() => this.resume(entry));
    }
    return entry.waiting;
  }

  private replayStep(entry: Replaying, ends: CommitEnds): void {
    const { watcher } = entry;
    if (entry.steps === null) {
      entry.below = Math.min(this.next ?? Number.POSITIVE_INFINITY, ends.lastTransfer + 1);
      if (watcher.next >= entry.below) {
        this.replaying.delete(entry);
        return this.join(watcher, ends);
      }
      entry.steps = replay(this.reads, watcher, watcher.next, entry.below);
    }
    const step = entry.steps.next();
    if (step.done === true) {
      watcher.next = entry.below;
      entry.steps = null;
      return;
    }
    for (const row of step.value) {
      watcher.next = row.id + 1;
      if (watcher.tell(new TransferEvent(row, false, this.facts()))) {
        this.pushed.add(row, [watcher], this.tip?.number ?? 0);
      }
    }
  }

  /** Pushes again, as removed and newest first, the pushed transfers of blocks above `to`. */
  private withdraw(to: number): void {
    for (const row of this.pushed.takeAbove(to)) {
      const event = new TransferEvent(row, true, this.facts());
      for (const watcher of this.handedTo(row)) watcher.tell(event);
    }
    for (const { forgotten, subscription } of this.watchers()) {
      if (forgotten > to) subscription.outlet.close(...DEEP_REORG);
    }
  }

  /** The watchers that got a pushed transfer to look at; a live watcher got all that concern it from its `first` on. */
  private handedTo(row: EventRow): Watcher[] {
    const handed = this.live.concernedBy(row).filter(({ first }) => row.id >= first);
    for (const { watcher } of this.replaying) {
      if (row.id >= watcher.first && row.id < watcher.next) handed.push(watcher);
    }
    return handed;
  }

  private watchers(): Watcher[] {
    return [...this.live.all, ...[...this.replaying].map(({ watcher }) => watcher)];
  }

  private facts() {
    this.chainId ??= this.reads.chainId();
    return { chainId: this.chainId ?? 0, nativeSymbol: this.options.nativeSymbol };
  }

  private observeAge(): void {
    if (this.toldSince === null) return;
    const seconds = (performance.timeOrigin + performance.now() - this.toldSince) / 1000;
    this.toldSince = null;
    this.options.metrics.pushAge.observe({ topic: 'transfers' }, Math.max(0, seconds));
  }
}

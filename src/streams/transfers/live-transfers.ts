/**
 * Pushes each commit to the live subscribers, those past their replay. Near the head the indexer announces the blocks
 * it is about to commit; they are matched while it writes, so that the watermark pushes the matches at once. Everything
 * else is read from the index.
 */
import type { Logger } from '../../log/logger.ts';
import type { CommittingBlocks } from '../../model/block-batch.ts';
import type { LastIds } from '../../query/blocks.ts';
import type { EventRow } from '../../query/events.ts';
import type { StreamReads, TransferParties } from '../../query/stream-reads.ts';
import type { StreamMetrics } from '../subscription.ts';
import type { BatchContext } from './batch-source.ts';
import { PreCommitMatches } from './pre-commit-matches.ts';
import { SCANNED_PER_STEP } from './replay.ts';
import { SubscriptionIndex } from './subscription-index.ts';
import { type EventSource, TransferEvent } from './transfer-event.ts';
import type { TransferSubscription } from './transfer-subscription.ts';
import { MAX_TURN_MS } from './turn-loop.ts';

/** Transfers scanned by id at a time when every transfer is pushed. */
const ALL_PER_STEP = 100;
/** Full rows read and pushed at a time, so that clients get the first transfers of a block before the last are read. */
const EVENTS_PER_STEP = 16;
/** Events held for a live subscriber before it must catch up as a replay does, which waits for them. */
const MAX_HELD = 2_000;
/** New wallets compared with subscribed addresses at a time. */
const WALLETS_PER_STEP = 2_000;

/** A transfer and its candidate subscribers. */
interface TransferMatch {
  id: number;
  subscribers: readonly TransferSubscription[];
}

interface LiveTransfersOptions {
  reads: StreamReads;
  metrics: Pick<StreamMetrics, 'pushAge'>;
  log: Logger;
  parties: BatchContext['parties'];
  /** Opens a source for transfers read from the index. */
  openSource(): EventSource;
  onPushed(event: TransferEvent, subscribers: readonly TransferSubscription[]): void;
  /** Ends the subscriptions that would miss transfers because of `error`. */
  onFailure(error: unknown, subscribers: readonly TransferSubscription[]): void;
  /** Too many events of a subscriber are held. It must catch up from `next` on, which is not pushed yet. */
  onBehind(subscriber: TransferSubscription, next: number): void;
  /** Records a failed read. Returns any other error unchanged. */
  recordFailure(error: unknown): unknown;
}

export class LiveTransfers {
  private readonly options: LiveTransfersOptions;
  private readonly reads: StreamReads;
  private readonly index = new SubscriptionIndex();
  private readonly age: PushAge;
  /** Id of the next transfer to push; undefined without subscribers. */
  private nextTransfer: number | undefined;
  /** Wallets up to this id were compared with the subscribed addresses. */
  private lastResolvedWallet = 0;
  /** Reads the transactions of committed transfers; null until needed. */
  private source: EventSource | null = null;
  /** Matches in the blocks announced last; null if they must be read from the index or have no subscribers. */
  private preCommit: PreCommitMatches | null = null;

  constructor(options: LiveTransfersOptions) {
    this.options = options;
    this.reads = options.reads;
    this.age = new PushAge(options.metrics.pushAge);
  }

  get subscribers(): ReadonlySet<TransferSubscription> {
    return this.index.all;
  }

  /** First transfer that replays leave to the live push. */
  get nextId(): number {
    return this.nextTransfer ?? Number.POSITIVE_INFINITY;
  }

  /** Pushes to a subscriber from its `nextId` on. */
  add(subscriber: TransferSubscription, ends: LastIds): void {
    if (!this.index.hasUnresolved) this.lastResolvedWallet = ends.lastWallet;
    this.index.add(subscriber, this.reads.walletId);
    this.preCommit = this.preCommit?.restarted() ?? null; // the matches so far do not include this subscriber
    this.nextTransfer ??= subscriber.nextId;
  }

  delete(subscriber: TransferSubscription): void {
    this.index.delete(subscriber);
    if (this.index.all.size > 0) return;
    this.nextTransfer = undefined;
    this.preCommit = null;
    this.age.reset();
  }

  /** The subscribers that received a transfer if they wanted it. */
  recipientsOf(event: TransferEvent): TransferSubscription[] {
    const { row } = event;
    const candidates = this.index.candidatesByTrade(this.index.candidatesByAddress(row), event);
    return candidates.filter(({ firstId }) => row.id >= firstId);
  }

  /** Matches blocks about to be committed, if they directly follow the last push. */
  matchBeforeCommit(blocks: CommittingBlocks): void {
    this.preCommit = null;
    if (this.nextTransfer !== blocks.firstTransfer) return;
    try {
      this.reads.snapshot.head();
      const matches = new PreCommitMatches(blocks, {
        subscribers: this.index,
        tokenFacts: this.reads.tokenSymbols,
        chainInfo: this.options.openSource().chainInfo,
        firstTransferOf: this.reads.firstTransferOf,
        tokenStart: this.reads.tokenStart,
        tradeRules: this.reads.tradeRules,
        parties: this.options.parties,
      });
      matches.prepare(performance.now() + MAX_TURN_MS);
      this.preCommit = matches;
    } catch (error) {
      if (this.options.recordFailure(error) === error)
        this.options.log.warn(
          { err: error },
          'cannot match blocks before their commit; reading the index after it',
        );
    }
  }

  /** `at`: Unix milliseconds of the commit. */
  noteCommit(at: number): void {
    this.age.noteCommit(at);
  }

  /** Applies a rollback: ids above `kept` will be reassigned. */
  rollBack({ lastTransfer, lastWallet }: LastIds): void {
    if (this.nextTransfer !== undefined) this.nextTransfer = Math.min(this.nextTransfer, lastTransfer + 1);
    this.lastResolvedWallet = Math.min(this.lastResolvedWallet, lastWallet);
    this.source = null; // it keeps ids
    this.index.invalidateIdsAbove(lastWallet);
  }

  /** Pushes the pre-commit matches, provided that they were made for the commit with hash `committed`. */
  *pushPreCommit(committed: string | undefined): Generator<void, void, void> {
    const { preCommit } = this;
    if (preCommit === null || preCommit.hash !== committed) return;
    while (this.nextTransfer === preCommit.next && preCommit.next <= preCommit.last) {
      const taken = this.takePreCommit(preCommit);
      if (taken === null) return;
      const { matches, isLast } = taken;
      for (const { event, subscribers } of matches) this.push(event, subscribers);
      const reached = isLast ? preCommit.last : (matches.at(-1)?.event.row.id ?? preCommit.next - 1);
      preCommit.next = reached + 1;
      this.nextTransfer = preCommit.next;
      yield;
    }
  }

  /** Pushes committed transfers read from the index. */
  *pushCommitted(ends: LastIds): Generator<void, void, void> {
    yield* this.resolveNewWallets(ends);
    while (this.nextTransfer !== undefined && this.nextTransfer <= ends.lastTransfer) {
      const limit = this.index.wantsAll || this.index.wantsTrades ? ALL_PER_STEP : SCANNED_PER_STEP;
      const rows = this.reads.scan(this.nextTransfer, ends.lastTransfer + 1, limit);
      const following = (rows.at(-1)?.id ?? ends.lastTransfer) + 1;
      for (const matches of this.matchesIn(rows)) {
        if (!(yield* this.pushMatches(matches))) return;
        yield;
        if (this.nextTransfer !== matches.at(-1)!.id + 1) return; // the last subscriber left and another one came
      }
      this.nextTransfer = following;
    }
    this.age.observe();
  }

  /** The next matches; null when a token symbol cannot be read, so that the rest must come from the index. */
  private takePreCommit(preCommit: PreCommitMatches): ReturnType<PreCommitMatches['take']> | null {
    try {
      return preCommit.take(EVENTS_PER_STEP);
    } catch (error) {
      this.preCommit = null;
      if (this.options.recordFailure(error) === error) throw error;
      return null;
    }
  }

  /** Assigns the ids of new wallets to subscribed addresses. */
  private *resolveNewWallets(ends: LastIds): Generator<void, void, void> {
    while (this.index.hasUnresolved && this.lastResolvedWallet < ends.lastWallet) {
      const wallets = this.reads.walletsAfter(this.lastResolvedWallet, ends.lastWallet, WALLETS_PER_STEP);
      this.index.resolve(wallets);
      this.lastResolvedWallet = wallets.length < WALLETS_PER_STEP ? ends.lastWallet : wallets.at(-1)!.id;
      if (this.lastResolvedWallet < ends.lastWallet) yield;
    }
  }

  /** The transfers with candidate subscribers, EVENTS_PER_STEP at a time. */
  private *matchesIn(rows: readonly TransferParties[]): Generator<TransferMatch[], void, void> {
    let matches: TransferMatch[] = [];
    for (const row of rows) {
      const subscribers = this.index.candidatesFor(row);
      if (subscribers.length > 0 || this.index.wantsTrades) matches.push({ id: row.id, subscribers });
      if (matches.length < EVENTS_PER_STEP) continue;
      yield matches;
      matches = [];
    }
    if (matches.length > 0) yield matches;
  }

  /** Returns false when no subscriber is left, or others came instead. */
  private *pushMatches(matches: readonly TransferMatch[]): Generator<void, boolean, void> {
    const events = this.readEvents(matches);
    for (const [i, row] of events.entries()) {
      const { subscribers: candidates } = matches[i]!;
      this.source ??= this.options.openSource();
      const event = TransferEvent.from(this.source, row);
      const before = this.nextTransfer;
      for (const _piece of event.prepare(this.index.examiners(candidates))) {
        yield;
        if (this.nextTransfer !== before) return false;
      }
      this.push(event, this.index.candidatesByTrade(candidates, event));
      if (this.index.all.size === 0) return false;
      this.nextTransfer = row.id + 1;
    }
    if (this.index.all.size === 0) return false;
    this.nextTransfer = matches.at(-1)!.id + 1;
    return true;
  }

  /** The rows. If they cannot be read, fails the subscriptions that want one of them and returns none. */
  private readEvents(matches: readonly TransferMatch[]): EventRow[] {
    try {
      return this.reads.events(matches.map(({ id }) => id));
    } catch (error) {
      const candidates = matches.flatMap(({ subscribers }) => subscribers);
      this.options.onFailure(error, [...new Set([...candidates, ...this.index.traders])]);
      return [];
    }
  }

  private push(event: TransferEvent, subscribers: readonly TransferSubscription[]): void {
    const { row } = event;
    const notified = subscribers.filter((subscriber) => {
      if (row.id < subscriber.nextId) return false;
      if (subscriber.heldCount < MAX_HELD) return subscriber.notify(event);
      this.options.onBehind(subscriber, row.id);
      return false;
    });
    if (notified.length === 0) return;
    this.age.notePush();
    this.options.onPushed(event, notified);
  }
}

/** Measures the time from a commit to the end of its push, once per commit with a recipient. */
class PushAge {
  private readonly metric: StreamMetrics['pushAge'];
  /** Unix milliseconds of the last commit. */
  private committedAt: number | null = null;
  /** Unix milliseconds of the oldest commit pushed since the last observation. */
  private unmeasuredSince: number | null = null;

  constructor(metric: StreamMetrics['pushAge']) {
    this.metric = metric;
  }

  noteCommit(at: number): void {
    this.committedAt = at;
  }

  notePush(): void {
    this.unmeasuredSince ??= this.committedAt;
  }

  observe(): void {
    if (this.unmeasuredSince === null) return;
    const seconds = (performance.timeOrigin + performance.now() - this.unmeasuredSince) / 1000;
    this.unmeasuredSince = null;
    this.metric.observe({ topic: 'transfers' }, Math.max(0, seconds));
  }

  /** Without subscribers nothing would end the measurement. */
  reset(): void {
    this.unmeasuredSince = null;
  }
}

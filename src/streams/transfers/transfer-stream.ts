/**
 * Pushes transfers to their subscribers on commit. A subscriber that names a block first gets the indexed transfers
 * from there (replay), then live ones. Transfers removed by a reorg are pushed again, marked as removed.
 */
import { nextAfter } from '../../follower/removed-blocks.ts';
import type { Logger } from '../../log/logger.ts';
import type { CommittingBlocks, Watermark } from '../../model/block-batch.ts';
import type { LabelLookup } from '../../model/label.ts';
import type { RpcClient } from '../../node/client.ts';
import type { LastIds } from '../../query/blocks.ts';
import type { ReadFailures } from '../../query/read-failures.ts';
import type { StreamReads } from '../../query/stream-reads.ts';
import { DEEP_REORG, INTERNAL_FAILURE } from '../close.ts';
import { unknownLastSeen } from '../subscribe-errors.ts';
import type { StreamMetrics, Unsubscribe } from '../subscription.ts';
import { type BatchContext, BatchSource } from './batch-source.ts';
import type { ChainInfo } from './event-json.ts';
import { HeldEvents, MetadataWait } from './held-events.ts';
import { IndexSource } from './index-source.ts';
import { LiveTransfers } from './live-transfers.ts';
import { ProgressReports } from './progress.ts';
import { type RecentBlock, RecentBlocks } from './recent-blocks.ts';
import { ReorgBuffer } from './reorg-buffer.ts';
import { ReplayQueue } from './replay-queue.ts';
import { TransactionParties } from './transaction-parties.ts';
import { TransferEvent } from './transfer-event.ts';
import type { LastSeen } from './transfer-filter.ts';
import type { TransferSubscription } from './transfer-subscription.ts';
import { TurnLoop } from './turn-loop.ts';
import { WatermarkGate } from './watermark-gate.ts';

interface TransferStreamOptions {
  reads: StreamReads;
  /** Source of the transactions of older transfers. */
  node: Pick<RpcClient, 'batch'>;
  /** Symbol of the chain's native coin. */
  nativeSymbol: string;
  labels?: LabelLookup | undefined;
  /** How long a new token's events wait for its metadata, milliseconds. */
  metadataWaitMs: number;
  metrics: StreamMetrics;
  failures: Pick<ReadFailures, 'record'>;
  log: Logger;
}

export class TransferStream {
  private readonly options: TransferStreamOptions;
  private readonly reads: StreamReads;
  private readonly gate: WatermarkGate;
  private readonly live: LiveTransfers;
  private readonly replays: ReplayQueue;
  private readonly held: HeldEvents<TransferSubscription>;
  private readonly recentBlocks = new RecentBlocks();
  private readonly reorgBuffer = new ReorgBuffer((event) => this.recipientsOf(event));
  private readonly turns: TurnLoop;
  private readonly progress: ProgressReports;
  /** Whether the last commit had several blocks. */
  private isBehind = false;
  private readonly parties: TransactionParties;
  private chainInfo: ChainInfo | null = null;

  /** Construct it before the indexer starts, so that no watermark is missed. */
  constructor(options: TransferStreamOptions) {
    const { reads, metrics, log, node, metadataWaitMs } = options;
    this.options = options;
    this.reads = reads;
    this.parties = new TransactionParties(node, () => this.held.release());
    this.gate = new WatermarkGate(reads, (kept) => this.rollBack(kept));
    this.live = new LiveTransfers({
      reads,
      metrics,
      log,
      parties: this.parties,
      openSource: () => this.openSource(),
      onPushed: (event, subscribers) => this.reorgBuffer.add(event, subscribers, this.gate.head),
      onFailure: (error, subscribers) => this.fail(subscribers, error),
      onBehind: (subscriber, next) => this.catchUp(subscriber, next),
      recordFailure: (error) => this.recordFailure(error),
    });
    this.replays = new ReplayQueue({
      reads,
      onResume: () => this.turns.schedule(),
      openSource: () => this.openSource(),
      publish: (event, subscriber) => this.pushReplayed(event, subscriber),
      onProgress: (subscriber) =>
        this.progress.reportReplay(subscriber, () => reads.blockBefore(subscriber.nextId)),
      onFailure: (error, subscriber) => this.fail([subscriber], error),
    });
    this.turns = new TurnLoop({
      hasSubscribers: () => this.live.subscribers.size + this.replays.size > 0,
      steps: (deadline) => this.pushPending(deadline),
      onError: (error) => this.fail(this.subscribers(), error),
    });
    this.progress = new ProgressReports({ markOf: reads.markOf, onDue: () => this.turns.schedule() });
    this.held = new HeldEvents({
      metadata: new MetadataWait(reads, metadataWaitMs),
      tokenFacts: reads.tokenSymbols,
      onReleased: () => this.turns.schedule(),
      onFailure: (error, subscriber) => this.fail([subscriber], error),
    });
  }

  /** Starts pushing to a subscriber: everything from its `fromBlock` on, or everything committed from now on. */
  async subscribe(subscriber: TransferSubscription): Promise<Unsubscribe> {
    try {
      subscriber.held = this.held;
      return await this.startPushing(subscriber);
    } catch (error) {
      this.remove(subscriber); // may have been added already
      throw this.recordFailure(error);
    }
  }

  private async startPushing(subscriber: TransferSubscription): Promise<Unsubscribe> {
    const ends = await this.gate.waitUntilVerified();
    if (subscriber.wantsProgress) this.progress.add(subscriber);
    if (subscriber.lastSeen !== null) this.pushWithdrawn(subscriber, subscriber.lastSeen);
    if (subscriber.fromBlock !== null) {
      const { lastTransfer } = this.reads.lastIdsUpTo(subscriber.fromBlock - 1);
      // The index may be ahead of the watermark, and the live push starts at the watermark's end.
      subscriber.firstId = subscriber.nextId = Math.min(lastTransfer, ends.lastTransfer) + 1;
      this.replays.add(subscriber);
    } else {
      subscriber.firstId = subscriber.nextId = ends.lastTransfer + 1;
      this.live.add(subscriber, ends);
      if (subscriber.wantsProgress) this.turns.schedule(); // the first report is of the block it starts after
    }
    return () => this.remove(subscriber);
  }

  /**
   * Pushes the reverted transfers of the branch that the subscriber saw last, newest first, and starts its replay at
   * the fork. Throws RequestError when the branch is no longer known.
   */
  private pushWithdrawn(subscriber: TransferSubscription, seen: LastSeen): void {
    const next = nextAfter(seen, {
      head: this.gate.head,
      rewrites: this.reads.snapshot.rewrites,
      isIndexed: (block) => this.isIndexed(block),
      removed: this.recentBlocks.removed,
    });
    if (next === null) throw unknownLastSeen();
    const { gone, outcome } = next;
    for (const event of withdrawnTransfers(gone, this.branchContext(gone))) subscriber.notify(event);
    const start = subscriber.fromBlock ?? seen.number;
    subscriber.fromBlock = outcome.kind === 'withdrawn' ? Math.min(start, outcome.from) : start;
  }

  private isIndexed({ number, hash }: Pick<LastSeen, 'number' | 'hash'>): boolean {
    return this.reads.lastIdsAt({ number, hash: `0x${hash}` }) !== undefined;
  }

  /** Indexed wallets from blocks of the other branch were new in this branch too. */
  private branchContext(branch: readonly RecentBlock[]): BatchContext {
    const { chainInfo, tokenFacts } = this.openSource();
    const { lastTransfer } = this.reads.lastIdsUpTo((branch.at(-1)?.number ?? 0) - 1);
    const firstTransferOf = (address: string): number | undefined => {
      const first = this.reads.firstTransferOf(address);
      return first !== undefined && first <= lastTransfer ? first : undefined;
    };
    const tokenStart: BatchContext['tokenStart'] = (contract) => {
      const start = this.reads.tokenStart(contract);
      return start !== undefined && start.transfer <= lastTransfer ? start : undefined;
    };
    const { parties, reads } = this;
    return { chainInfo, tokenFacts, firstTransferOf, tokenStart, tradeRules: reads.tradeRules, parties };
  }

  /** Handles blocks about to be committed. Their watermark follows unless the commit fails. */
  onCommitting(blocks: CommittingBlocks): void {
    if (this.turns.isClosed) return;
    this.recentBlocks.announce(blocks);
    this.live.matchBeforeCommit(blocks);
  }

  /** Handles a commit or a rollback. Call it with every watermark, after the snapshot is released. */
  onWatermark(mark: Watermark): void {
    this.gate.apply(mark);
    if (mark.kind === 'committed') {
      this.recentBlocks.commit(mark.hash.slice(2));
      this.live.noteCommit(mark.committedAt);
      this.isBehind = mark.to > mark.from;
    } else {
      this.recentBlocks.rollBack(mark.to);
      this.pushRemoved(mark.to);
    }
    this.turns.run();
  }

  close(): void {
    this.turns.close();
    this.progress.close();
    this.parties.close();
    this.held.close();
  }

  private remove(subscriber: TransferSubscription): void {
    subscriber.ended = true;
    this.held.delete(subscriber);
    this.live.delete(subscriber);
    this.replays.delete(subscriber);
    this.progress.delete(subscriber);
    if (this.live.subscribers.size + this.replays.size === 0) this.reorgBuffer.clear();
  }

  /** Ids above `kept` are reassigned, now or later. */
  private rollBack(kept: LastIds): void {
    const first = kept.lastTransfer + 1;
    this.live.rollBack(kept);
    this.reads.invalidateWalletsAbove(kept.lastWallet);
    for (const subscriber of this.subscribers()) {
      subscriber.firstId = Math.min(subscriber.firstId, first);
      subscriber.nextId = Math.min(subscriber.nextId, first);
    }
    this.replays.restart();
  }

  /** Pushes committed transfers to live subscribers, then advances the replays until the deadline. */
  private *pushPending(deadline: number): Generator<void, void, void> {
    yield* this.live.pushPreCommit(this.gate.settledHash);
    const ends = this.gate.verify();
    if (ends === undefined) return;
    yield* this.live.pushCommitted(ends);
    this.reportLive(ends);
    const limits = {
      below: () => Math.min(this.live.nextId, ends.lastTransfer + 1),
      onCaughtUp: (subscriber: TransferSubscription) => this.live.add(subscriber, ends),
      deadline,
    };
    while (!this.replays.advance(limits)) yield;
    this.reportLive(ends); // to those whose replay has ended
  }

  /** Once everything up to the last watermark, which ends with `ends`, was pushed. */
  private reportLive({ lastTransfer }: LastIds): void {
    const { settled } = this.gate;
    if (settled !== null && this.live.nextId > lastTransfer)
      this.progress.reportLive(this.live.subscribers, settled, this.isBehind);
  }

  /** Moves a live subscriber to the replays, from a transfer on that it was not offered yet. */
  private catchUp(subscriber: TransferSubscription, next: number): void {
    this.live.delete(subscriber);
    subscriber.nextId = next;
    this.replays.add(subscriber, Number.POSITIVE_INFINITY); // it asked for no replay, so it pays for none
  }

  private pushReplayed(event: TransferEvent, subscriber: TransferSubscription): void {
    if (subscriber.notify(event)) this.reorgBuffer.add(event, [subscriber], this.gate.head);
  }

  /** Pushes the transfers of blocks above `to` again, as removed and newest first. */
  private pushRemoved(to: number): void {
    for (const event of this.reorgBuffer.takeAbove(to)) {
      const removed = event.asRemoved();
      for (const subscriber of this.recipientsOf(event)) subscriber.notify(removed);
    }
    for (const { evictedBlock, subscription } of this.subscribers()) {
      if (evictedBlock > to) subscription.connection.close(...DEEP_REORG);
    }
  }

  /** Closes the connections of subscribers that would miss transfers. The others continue in another turn. */
  private fail(subscribers: readonly TransferSubscription[], error: unknown): void {
    if (this.recordFailure(error) === error)
      this.options.log.error({ err: error }, 'streams cannot read the index');
    for (const subscriber of subscribers) {
      this.remove(subscriber);
      subscriber.subscription.connection.close(...INTERNAL_FAILURE);
    }
  }

  /** Returns the error for the client. A failed read ends the turn, because the rest of it might see another commit. */
  private recordFailure(error: unknown): unknown {
    const translated = this.options.failures.record(error);
    if (translated === error) return error;
    this.reads.snapshot.discard();
    this.turns.restart();
    return translated;
  }

  /** The subscribers that a pushed transfer was offered to. */
  private recipientsOf(event: TransferEvent): TransferSubscription[] {
    const recipients = this.live.recipientsOf(event);
    const { id } = event.row;
    for (const subscriber of this.replays.subscribers()) {
      if (id >= subscriber.firstId && id < subscriber.nextId) recipients.push(subscriber);
    }
    return recipients;
  }

  private subscribers(): TransferSubscription[] {
    return [...this.live.subscribers, ...this.replays.subscribers()];
  }

  private openSource(): IndexSource {
    return new IndexSource({ reads: this.reads, parties: this.parties, chainInfo: this.chain() });
  }

  private chain(): ChainInfo {
    if (this.chainInfo !== null) return this.chainInfo;
    const chainId = this.reads.chainId();
    const { nativeSymbol, labels } = this.options;
    const chainInfo = { chainId: chainId ?? 0, nativeSymbol, labels, markOf: this.reads.markOf };
    if (chainId !== undefined) this.chainInfo = chainInfo; // without a chain id indexing has not begun
    return chainInfo;
  }
}

/** Both `branch` and the result are newest first. */
function* withdrawnTransfers(
  branch: readonly RecentBlock[],
  context: BatchContext,
): Generator<TransferEvent, void, void> {
  const sources: BatchSource[] = [];
  for (const { batch, firstId } of branch.toReversed())
    sources.unshift(new BatchSource(batch, firstId, context, sources[0] ?? null));
  for (const [i, block] of branch.entries()) yield* newestFirst(block, sources[i]!);
}

function* newestFirst({ batch, from, end, number }: RecentBlock, source: BatchSource) {
  const at = batch.number.indexOf(number);
  for (let i = end - 1; i >= from; i--) {
    const eventIndex = i - batch.tx.indexOf(batch.tx[i]!, from);
    yield TransferEvent.from(source, source.rowAt(i, at, eventIndex, source.addressesAt(i)), true);
  }
}

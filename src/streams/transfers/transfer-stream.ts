/**
 * Pushes transfers to their subscribers as they are committed. A subscriber that names a block first gets the indexed
 * transfers from there (replay), then live ones. Transfers removed by a reorg are pushed again, marked as removed.
 */
import type { Logger } from '../../log/logger.ts';
import type { CommittingBlocks, Watermark } from '../../model/watermark.ts';
import type { LastIds } from '../../query/blocks.ts';
import type { EventRow } from '../../query/events.ts';
import type { ReadFailures } from '../../query/read-failures.ts';
import type { StreamReads } from '../../query/stream-reads.ts';
import { CloseCode, DEEP_REORG } from '../close.ts';
import type { StreamMetrics, Unsubscribe } from '../session.ts';
import { LiveTransfers } from './live-transfers.ts';
import { ReorgBuffer } from './reorg-buffer.ts';
import { ReplayQueue } from './replay-queue.ts';
import type { ChainInfo } from './transfer-json.ts';
import { TransferEvent, type TransferSubscription } from './transfer-subscription.ts';
import { TurnLoop } from './turn-loop.ts';
import { WatermarkGate } from './watermark-gate.ts';

export interface TransferStreamOptions {
  reads: StreamReads;
  /** Symbol of the chain's native coin. */
  nativeSymbol: string;
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
  private readonly reorgBuffer = new ReorgBuffer((row) => this.recipientsOf(row));
  private readonly turns: TurnLoop;
  private chainId: number | undefined;

  /** Construct it before the indexer starts, so that no watermark is missed. */
  constructor(options: TransferStreamOptions) {
    const { reads, metrics, log } = options;
    this.options = options;
    this.reads = reads;
    this.gate = new WatermarkGate(reads, (kept) => this.rollBack(kept));
    this.live = new LiveTransfers({
      reads,
      metrics,
      log,
      chainInfo: () => this.chainInfo(),
      onPushed: (row, subscribers) => this.reorgBuffer.add(row, subscribers, this.gate.head),
      onFailure: (error, subscribers) => this.fail(subscribers, error),
      recordFailure: (error) => this.recordFailure(error),
    });
    this.replays = new ReplayQueue({
      reads,
      onResume: () => this.turns.schedule(),
      publish: (row, subscriber) => this.pushReplayed(row, subscriber),
      onFailure: (error, subscriber) => this.fail([subscriber], error),
    });
    this.turns = new TurnLoop({
      hasSubscribers: () => this.live.subscribers.size + this.replays.size > 0,
      steps: (deadline) => this.pushPending(deadline),
      onError: (error) => this.fail(this.subscribers(), error),
    });
  }

  /** Starts pushing to a subscriber: everything from its `fromBlock` on, or what is committed from now on. */
  async subscribe(subscriber: TransferSubscription): Promise<Unsubscribe> {
    try {
      return await this.startPushing(subscriber);
    } catch (error) {
      this.remove(subscriber); // it may have been added already
      throw this.recordFailure(error);
    }
  }

  private async startPushing(subscriber: TransferSubscription): Promise<Unsubscribe> {
    const ends = await this.gate.waitUntilVerified();
    if (subscriber.fromBlock !== null) {
      const { lastTransfer } = this.reads.lastIdsUpTo(subscriber.fromBlock - 1);
      // The index may be ahead of the watermark, and the live push starts at the watermark's end.
      subscriber.firstId = subscriber.nextId = Math.min(lastTransfer, ends.lastTransfer) + 1;
      this.replays.add(subscriber);
    } else {
      subscriber.firstId = subscriber.nextId = ends.lastTransfer + 1;
      this.live.add(subscriber, ends);
    }
    return () => this.remove(subscriber);
  }

  /** Handles blocks about to be committed; their watermark follows unless the commit fails. */
  onCommitting(blocks: CommittingBlocks): void {
    if (!this.turns.isClosed) this.live.matchBeforeCommit(blocks);
  }

  /** Handles a commit or a rollback. Call it with every watermark, after the snapshot is released. */
  onWatermark(mark: Watermark): void {
    this.gate.apply(mark);
    if (mark.kind === 'committed') this.live.noteCommit(mark.committedAt);
    else this.pushRemoved(mark.to);
    this.turns.run();
  }

  close(): void {
    this.turns.close();
  }

  private remove(subscriber: TransferSubscription): void {
    subscriber.ended = true;
    this.live.delete(subscriber);
    this.replays.delete(subscriber);
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

  /** Pushes what was committed to live subscribers, then advances the replays until the deadline. */
  private *pushPending(deadline: number): Generator<void, void, void> {
    yield* this.live.pushPreCommit(this.gate.settledHash);
    const ends = this.gate.verify();
    if (ends === undefined) return;
    yield* this.live.pushCommitted(ends);
    const limits = {
      below: () => Math.min(this.live.nextId, ends.lastTransfer + 1),
      onCaughtUp: (subscriber: TransferSubscription) => this.live.add(subscriber, ends),
      deadline,
    };
    while (!this.replays.advance(limits)) yield;
  }

  private pushReplayed(row: EventRow, subscriber: TransferSubscription): void {
    if (!subscriber.notify(new TransferEvent(row, false, this.chainInfo()))) return;
    this.reorgBuffer.add(row, [subscriber], this.gate.head);
  }

  /** Pushes the transfers of blocks above `to` again, as removed and newest first. */
  private pushRemoved(to: number): void {
    for (const row of this.reorgBuffer.takeAbove(to)) {
      const event = new TransferEvent(row, true, this.chainInfo());
      for (const subscriber of this.recipientsOf(row)) subscriber.notify(event);
    }
    for (const { evictedBlock, subscription } of this.subscribers()) {
      if (evictedBlock > to) subscription.connection.close(...DEEP_REORG);
    }
  }

  /** Closes the connections of subscribers that would miss transfers; the others go on in another turn. */
  private fail(subscribers: readonly TransferSubscription[], error: unknown): void {
    if (this.recordFailure(error) === error)
      this.options.log.error({ err: error }, 'streams cannot read the index');
    for (const subscriber of subscribers) {
      this.remove(subscriber);
      subscriber.subscription.connection.close(CloseCode.internalError, 'internal error');
    }
  }

  /** Returns the error for the client. A failed read ends the turn, since the rest of it might see another commit. */
  private recordFailure(error: unknown): unknown {
    const translated = this.options.failures.record(error);
    if (translated === error) return error;
    this.reads.snapshot.discard();
    this.turns.restart();
    return translated;
  }

  /** The subscribers that a pushed transfer was offered to. */
  private recipientsOf(row: EventRow): TransferSubscription[] {
    const recipients = this.live.recipientsOf(row);
    for (const subscriber of this.replays.subscribers()) {
      if (row.id >= subscriber.firstId && row.id < subscriber.nextId) recipients.push(subscriber);
    }
    return recipients;
  }

  private subscribers(): TransferSubscription[] {
    return [...this.live.subscribers, ...this.replays.subscribers()];
  }

  private chainInfo(): ChainInfo {
    this.chainId ??= this.reads.chainId();
    return { chainId: this.chainId ?? 0, nativeSymbol: this.options.nativeSymbol };
  }
}

/**
 * Replays indexed transfers to subscribers. API keys take turns, and no replay runs faster than its client reads or
 * than its key's rate permits.
 */
import { guarded } from '../../lib/guard.ts';
import type { StreamReads } from '../../query/stream-reads.ts';
import { QUOTA_USED_UP } from '../close.ts';
import type { IndexSource } from './index-source.ts';
import { replayIds } from './replay.ts';
import { TransferEvent } from './transfer-event.ts';
import type { TransferSubscription } from './transfer-subscription.ts';

/** A replay pauses while its client's backlog exceeds this, bytes. */
const MAX_REPLAY_BACKLOG_BYTES = 256 * 1024;

/** A replay pauses while this many of its events wait for the node: those of all batches in flight, and of the next. */
const MAX_REPLAY_HELD = 800;

/** Transfers per charged request. The subscribe request pays for the first of them. */
const ROWS_PER_REQUEST = 1_000;

/** What a replay waits for, if anything. */
type ReplayState = 'ready' | 'awaiting-reply' | 'awaiting-drain' | 'awaiting-rate';

interface Replay {
  subscriber: TransferSubscription;
  state: ReplayState;
  /** The read in progress, which ends before transfer `below`; null before the first. */
  scan: { steps: Generator<void, void, void>; below: number } | null;
  /** Transfers left of the last charge; negative when the last step read more. */
  paidRows: number;
}

interface ReplayQueueOptions {
  reads: StreamReads;
  /** A paused replay can advance again. */
  onResume(): void;
  /** Opens a source for the transfers of one replay. */
  openSource(): IndexSource;
  /** Offers a transfer to a subscriber. */
  publish(event: TransferEvent, subscriber: TransferSubscription): void;
  /** The subscriber was offered everything before its `nextId`. */
  onProgress(subscriber: TransferSubscription): void;
  /** A replay ended because the index could not be read. */
  onFailure(error: unknown, subscriber: TransferSubscription): void;
}

/** Bounds of `advance`. */
interface ReplayLimits {
  /** Id of the first transfer not to replay. It may change with each call of `onCaughtUp`. */
  below(): number;
  /** Takes over a subscriber whose replay has reached `below`. */
  onCaughtUp(subscriber: TransferSubscription): void;
  /** Time by performance.now(). */
  deadline: number;
}

export class ReplayQueue {
  private readonly options: ReplayQueueOptions;
  private readonly replays = new Set<Replay>();

  constructor(options: ReplayQueueOptions) {
    this.options = options;
  }

  get size(): number {
    return this.replays.size;
  }

  *subscribers(): Generator<TransferSubscription, void, void> {
    for (const { subscriber } of this.replays) yield subscriber;
  }

  /** Starts a replay from the subscriber's `nextId` once its subscribe reply is queued. */
  add(subscriber: TransferSubscription, paidRows = ROWS_PER_REQUEST): void {
    const replay: Replay = { subscriber, state: 'awaiting-reply', scan: null, paidRows };
    this.replays.add(replay);
    subscriber.subscription.onRelease(() => this.resume(replay));
  }

  delete(subscriber: TransferSubscription): void {
    for (const replay of this.replays) if (replay.subscriber === subscriber) this.replays.delete(replay);
  }

  /** Call after a rollback, once each `nextId` is lowered: the ids found so far are invalid. */
  restart(): void {
    for (const replay of this.replays) replay.scan = null;
  }

  /** Advances the replays in turn until the deadline. Returns true when none can advance now, or one has failed. */
  advance(limits: ReplayLimits): boolean {
    for (;;) {
      const ready = this.nextOfEachKey();
      if (ready.length === 0) return true;
      for (const replay of ready) {
        try {
          this.advanceReplay(replay, limits);
        } catch (error) {
          this.replays.delete(replay);
          this.options.onFailure(error, replay.subscriber);
          return true;
        }
        this.moveToBack(replay);
        if (performance.now() > limits.deadline) return false;
      }
    }
  }

  /** One ready replay per key, because the replays of a key share one turn. */
  private nextOfEachKey(): Replay[] {
    const byKey = new Map<number, Replay>();
    for (const replay of this.replays) {
      const { key } = replay.subscriber.subscription.connection.payer;
      if (isHeldUp(replay)) continue; // until held events are released
      if (!byKey.has(key) && !this.pauseIfBehind(replay) && !this.pauseIfUnpaid(replay))
        byKey.set(key, replay);
    }
    return [...byKey.values()];
  }

  private resume(replay: Replay): void {
    replay.state = 'ready';
    this.options.onResume();
  }

  private pauseIfBehind(replay: Replay): boolean {
    const { connection } = replay.subscriber.subscription;
    if (replay.state === 'ready' && connection.backlogBytes > MAX_REPLAY_BACKLOG_BYTES) {
      replay.state = 'awaiting-drain';
      connection.whenDrained(() => this.resume(replay));
    }
    return replay.state !== 'ready';
  }

  /**
   * Charges the key for the next transfers. Over the rate the replay waits; over the quota its connection is closed.
   */
  private pauseIfUnpaid(replay: Replay): boolean {
    if (replay.paidRows >= 0) return false;
    const { connection } = replay.subscriber.subscription;
    const refused = connection.payer.charge();
    if (refused === null) {
      replay.paidRows += ROWS_PER_REQUEST;
      return false;
    }
    replay.state = 'awaiting-rate';
    if (refused.code === 'quota_exceeded') connection.close(...QUOTA_USED_UP);
    else
      setTimeout(
        guarded('replay', () => this.resume(replay)),
        refused.waitMs,
      ).unref();
    return true;
  }

  private advanceReplay(replay: Replay, { below, onCaughtUp }: ReplayLimits): void {
    const { subscriber } = replay;
    if (replay.scan === null) {
      const end = below();
      if (subscriber.nextId >= end) {
        this.replays.delete(replay);
        return onCaughtUp(subscriber);
      }
      replay.scan = { steps: this.stepsOf(replay, end), below: end };
    }
    if (replay.scan.steps.next().done !== true) return;
    subscriber.nextId = replay.scan.below;
    replay.scan = null;
  }

  /** Offers the transfers below an id to the subscriber, some per step. */
  private *stepsOf(replay: Replay, below: number): Generator<void, void, void> {
    const { reads, publish, onProgress } = this.options;
    const { subscriber } = replay;
    const source = this.options.openSource();
    for (const { ids, next } of replayIds(reads, subscriber, subscriber.nextId, below)) {
      replay.paidRows -= ids.length;
      for (const row of source.read(ids, subscriber.examines)) {
        const event = TransferEvent.from(source, row);
        if (subscriber.examines && source.isLarge(row)) yield* event.prepare([subscriber]);
        subscriber.nextId = event.row.id + 1;
        publish(event, subscriber);
      }
      subscriber.nextId = next;
      onProgress(subscriber);
      yield;
    }
  }

  /** Moves the replay to the back, so that the next turn starts with the others. */
  private moveToBack(replay: Replay): void {
    if (this.replays.delete(replay)) this.replays.add(replay);
  }
}

function isHeldUp({ subscriber }: Replay): boolean {
  return subscriber.heldCount > MAX_REPLAY_HELD;
}

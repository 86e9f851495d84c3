/** The watchers that are being replayed indexed transfers: each in turn, and none faster than its client reads. */
import type { EventRow } from '../query/events.ts';
import type { StreamReads } from '../query/stream-reads.ts';
import { replayTransfers } from './replay.ts';
import type { Watcher } from './watcher.ts';

/** A replay waits while its client's backlog is larger than this, bytes. */
const MAX_REPLAY_BACKLOG_BYTES = 256 * 1024;

interface Replay {
  watcher: Watcher;
  steps: Generator<EventRow[], void, void> | null;
  /** Where `steps` ends. */
  below: number;
  /** Whether it waits for the subscribe reply, or for the client's backlog to drain. */
  isPaused: boolean;
}

export interface ReplayQueueOptions {
  reads: StreamReads;
  /** A replay that was paused can advance. */
  onResume(): void;
  /** Pushes a transfer to a watcher that may want it. */
  publish(row: EventRow, watcher: Watcher): void;
}

/** How far replays may go. */
export interface ReplayLimits {
  /** First transfer id that is not replayed; asked for again when a watcher has been taken over. */
  below(): number;
  /** Takes over a watcher that has reached `below`, and is no longer replayed. */
  onCaughtUp(watcher: Watcher): void;
  /** By performance.now(). */
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

  *watchers(): Generator<Watcher, void, void> {
    for (const { watcher } of this.replays) yield watcher;
  }

  /** Adds a watcher that is to be handed everything from its `nextId` on, once its subscribe reply is on its way. */
  add(watcher: Watcher): void {
    const replay: Replay = { watcher, steps: null, below: 0, isPaused: true };
    this.replays.add(replay);
    watcher.subscription.onRelease(() => this.resume(replay));
  }

  delete(watcher: Watcher): void {
    for (const replay of this.replays) if (replay.watcher === watcher) this.replays.delete(replay);
  }

  /** Call it after a rollback, with each `nextId` set back: ids that were found are no longer valid. */
  restart(): void {
    for (const replay of this.replays) replay.steps = null;
  }

  /** Advances the replays in turn until the deadline. Returns true when none of them can advance now. */
  advance(limits: ReplayLimits): boolean {
    for (;;) {
      const ready = [...this.replays].filter((replay) => !this.pauseIfBehind(replay));
      if (ready.length === 0) return true;
      for (const replay of ready) {
        this.advanceReplay(replay, limits);
        this.moveToBack(replay);
        if (performance.now() > limits.deadline) return false;
      }
    }
  }

  private resume(replay: Replay): void {
    replay.isPaused = false;
    this.options.onResume();
  }

  private pauseIfBehind(replay: Replay): boolean {
    const { connection } = replay.watcher.subscription;
    if (!replay.isPaused && connection.backlogBytes > MAX_REPLAY_BACKLOG_BYTES) {
      replay.isPaused = true;
      connection.whenDrained(() => this.resume(replay));
    }
    return replay.isPaused;
  }

  private advanceReplay(replay: Replay, { below, onCaughtUp }: ReplayLimits): void {
    const { watcher } = replay;
    if (replay.steps === null) {
      replay.below = below();
      if (watcher.nextId >= replay.below) {
        this.replays.delete(replay);
        return onCaughtUp(watcher);
      }
      replay.steps = replayTransfers(this.options.reads, watcher, watcher.nextId, replay.below);
    }
    const step = replay.steps.next();
    if (step.done === true) {
      watcher.nextId = replay.below;
      replay.steps = null;
      return;
    }
    for (const row of step.value) {
      watcher.nextId = row.id + 1;
      this.options.publish(row, watcher);
    }
  }

  /** Puts the replay last, so that the next turn begins with the others. */
  private moveToBack(replay: Replay): void {
    if (this.replays.delete(replay)) this.replays.add(replay);
  }
}

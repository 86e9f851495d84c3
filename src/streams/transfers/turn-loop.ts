/** Runs a stream's work in bounded turns of the event loop. */

/** Longest work in one turn of the event loop, milliseconds. */
export const MAX_TURN_MS = 4;

interface TurnWork {
  /** Whether anybody is subscribed. Without subscribers a turn does nothing. */
  hasSubscribers(): boolean;
  /** The work of one turn, step by step until `deadline` (performance.now()), all reading one commit. */
  steps(deadline: number): Iterator<void>;
  onError(error: unknown): void;
}

interface Turn {
  steps: Iterator<void>;
  deadline: number;
}

type LoopState = 'idle' | 'scheduled' | 'closed';

export class TurnLoop {
  private readonly work: TurnWork;
  private state: LoopState = 'idle';
  /** The latest turn; null once abandoned. */
  private current: Turn | null = null;

  constructor(work: TurnWork) {
    this.work = work;
  }

  get isClosed(): boolean {
    return this.state === 'closed';
  }

  /** Starts a turn now. Ends a turn in progress, because the new turn reads a later commit. */
  run(): void {
    this.guard(() => {
      const deadline = performance.now() + MAX_TURN_MS;
      this.current = { steps: this.work.steps(deadline), deadline };
      this.step(this.current);
    });
  }

  /** Starts a turn in the next iteration of the event loop. */
  schedule(): void {
    if (this.state !== 'idle') return;
    this.state = 'scheduled';
    setImmediate(() => {
      if (this.state === 'closed') return;
      this.state = 'idle';
      this.run();
    });
  }

  /** Abandons the turn in progress, whose snapshot is gone, and schedules another one. */
  restart(): void {
    this.current = null;
    this.schedule();
  }

  close(): void {
    this.state = 'closed';
  }

  /** Runs one step and queues the next as a microtask of the same turn, so that connections send in between. */
  private step(turn: Turn): void {
    if (turn !== this.current) return;
    if (turn.steps.next().done === true) return;
    if (performance.now() > turn.deadline) this.schedule();
    else queueMicrotask(() => this.guard(() => this.step(turn)));
  }

  private guard(action: () => void): void {
    if (this.isClosed || !this.work.hasSubscribers()) return;
    try {
      action();
    } catch (error) {
      this.work.onError(error);
    }
  }
}

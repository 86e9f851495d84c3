/** Keeping to the number of calls in a time that a node accepts: learnt from its refusals, since nodes do not say. */
import { pause } from '../lib/backoff.ts';

/** Calls a second after the first refusal, and the fewest. */
const FIRST_RATE = 100;
const MIN_RATE = 1;
/** A refusal lowers the rate to this share of it, refusals one after another to the smaller one. */
const SHARE_AFTER_REFUSAL = 0.7;
const SHARE_AFTER_ANOTHER = 0.5;
/** Each accepted call raises it: by a tenth a second in full use; far below what was accepted before, to twice as much. */
const RISE_PER_CALL = 0.1;
const QUICK_RISE_PER_CALL = 1;
/** After a refusal nothing is sent for so long, milliseconds. */
const PAUSE_MS = 250;
/** The longest wait that a node may ask for, milliseconds. */
const MAX_WAIT_MS = 60_000;
/** How soon a turn that is waited for notices the end, milliseconds. */
const CHECK_MS = 250;

export class CallPacer {
  private readonly patienceMs: number;
  /** Infinity while none was refused. */
  private rate = Number.POSITIVE_INFINITY;
  /** The rate at which calls were last accepted before one was refused. */
  private limit = FIRST_RATE;
  /** When the next call may be sent. */
  private nextAt = 0;
  /** Until when the node wants nothing to be sent. */
  private heldUntil = 0;
  private slowedAt = Number.NEGATIVE_INFINITY;
  /** Since when nothing was accepted; null when the last answer was no refusal. */
  private refusedSince: number | null = null;
  private lastTurn: Promise<void> = Promise.resolve();
  private closed = false;

  /** Calls are worth repeating while the node has refused everything for less than `patienceMs`. */
  constructor(patienceMs: number) {
    this.patienceMs = patienceMs;
  }

  get callsPerSecond(): number {
    return this.rate;
  }

  /** Resolves when so many more calls may be sent, in the order of asking; early when the signal aborts or on `close`. */
  async turn(calls: number, signal: AbortSignal | undefined): Promise<void> {
    if (this.rate === Number.POSITIVE_INFINITY) return;
    const turn = this.lastTurn.then(() => this.spend(calls, signal));
    this.lastTurn = turn;
    await turn;
  }

  /** The node asked for nothing to be sent for so long. */
  hold(ms: number): void {
    this.heldUntil = Math.max(this.heldUntil, performance.now() + Math.min(ms, MAX_WAIT_MS));
  }

  accepted(calls: number): void {
    this.refusedSince = null;
    this.rate += calls * (this.rate < this.limit / 2 ? QUICK_RISE_PER_CALL : RISE_PER_CALL);
  }

  /** What was sent at `sentAt` was refused. Returns whether it is worth repeating. */
  refused(sentAt: number): boolean {
    const now = performance.now();
    // Those that were under way together are one burst.
    if (sentAt >= this.slowedAt) {
      if (this.rate === Number.POSITIVE_INFINITY) this.rate = FIRST_RATE;
      else if (this.refusedSince === null) {
        this.limit = this.rate;
        this.rate *= SHARE_AFTER_REFUSAL;
      } else this.rate *= SHARE_AFTER_ANOTHER;
      this.rate = Math.max(MIN_RATE, this.rate);
      this.slowedAt = now;
    }
    this.refusedSince ??= now;
    this.nextAt = Math.max(this.heldUntil, now + PAUSE_MS); // what is refused costs no time
    return this.nextAt - this.refusedSince < this.patienceMs;
  }

  /** Nobody waits any longer. */
  close(): void {
    this.closed = true;
  }

  private async spend(calls: number, signal: AbortSignal | undefined): Promise<void> {
    for (;;) {
      if (this.closed || signal?.aborted) return;
      const wait = this.nextAt - performance.now();
      if (wait <= 0) break;
      await pause(Math.min(wait, CHECK_MS), signal);
    }
    this.nextAt = performance.now() + (calls * 1000) / this.rate;
  }
}

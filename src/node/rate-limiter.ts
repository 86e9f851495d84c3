/** Backs off when the node rate-limits calls and converges on its limit, which nodes do not publish. */
import { pause } from '../lib/async.ts';

/** Calls per second after the first refusal, and the minimum. */
const FIRST_RATE = 100;
const MIN_RATE = 1;
/** A refusal multiplies the rate by the first factor, each consecutive refusal by the second. */
const SHARE_AFTER_REFUSAL = 0.7;
const SHARE_AFTER_ANOTHER = 0.5;
/**
 * Each accepted call raises the rate: at full use by 10 % per second, by 100 % while far below the last accepted rate.
 */
const RISE_PER_CALL = 0.1;
const QUICK_RISE_PER_CALL = 1;
/** Pause after a refusal, milliseconds. */
const PAUSE_MS = 250;
/** Longest Retry-After to honour, milliseconds. */
const MAX_WAIT_MS = 60_000;
/** How soon a waiting call notices `close`, milliseconds. */
const CHECK_MS = 250;

export class AdaptiveRateLimiter {
  private readonly patienceMs: number;
  /** Calls per second; Infinity until the first refusal. */
  private rate = Number.POSITIVE_INFINITY;
  /** The rate at the last refusal after an accepted call. */
  private limit = FIRST_RATE;
  /** When the next call may be sent. */
  private nextAt = 0;
  /** End of the node's Retry-After. */
  private heldUntil = 0;
  private slowedAt = Number.NEGATIVE_INFINITY;
  /** Start of the current streak of refusals; null after an accepted call. */
  private refusedSince: number | null = null;
  private lastTurn: Promise<void> = Promise.resolve();
  private closed = false;

  /** Gives up when the node has refused every call for `patienceMs`. */
  constructor(patienceMs: number) {
    this.patienceMs = patienceMs;
  }

  get callsPerSecond(): number {
    return this.rate;
  }

  /** Resolves when `calls` more calls may be sent, in order of arrival; early on abort or `close`. */
  async turn(calls: number, signal: AbortSignal | undefined): Promise<void> {
    if (this.rate === Number.POSITIVE_INFINITY) return;
    const turn = this.lastTurn.then(() => this.spend(calls, signal));
    this.lastTurn = turn;
    await turn;
  }

  /** The node sent Retry-After. */
  hold(ms: number): void {
    this.heldUntil = Math.max(this.heldUntil, performance.now() + Math.min(ms, MAX_WAIT_MS));
  }

  accepted(calls: number): void {
    this.refusedSince = null;
    this.rate += calls * (this.rate < this.limit / 2 ? QUICK_RISE_PER_CALL : RISE_PER_CALL);
  }

  /** A call sent at `sentAt` was refused. Returns whether to repeat it. */
  refused(sentAt: number): boolean {
    const now = performance.now();
    // Calls in flight together count as one refusal.
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
    this.nextAt = Math.max(this.heldUntil, now + PAUSE_MS); // refused calls do not count against the rate
    return this.nextAt - this.refusedSince < this.patienceMs;
  }

  /** Ends all waits. */
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

/** A circuit breaker: sends a failing node only an occasional probe. */

/** Failures in a row after which the node counts as down. */
const FAILURES = 5;
/** First and longest wait between two probes of a failing node, milliseconds. */
const FIRST_WAIT_MS = 100;
const LONGEST_WAIT_MS = 2_000;

export class CircuitBreaker {
  private readonly onChange: (open: boolean) => void;
  private failures = 0;
  private waitMs = FIRST_WAIT_MS;
  /** When the next call may probe the node; by performance.now(). */
  private nextTry = 0;

  /** `onChange` is called when the breaker opens (true) and closes (false). */
  constructor(onChange: (open: boolean) => void) {
    this.onChange = onChange;
  }

  /** Whether calls fail without reaching the node. */
  get isOpen(): boolean {
    return this.failures >= FAILURES;
  }

  /** Whether a call may go to the node now. While the node is down only an occasional probe may. */
  admits(now: number): boolean {
    if (!this.isOpen) return true;
    if (now < this.nextTry) return false;
    this.waitMs = Math.min(LONGEST_WAIT_MS, this.waitMs * 2);
    this.nextTry = now + this.waitMs;
    return true;
  }

  /** The node answered, whatever it said. */
  succeeded(): void {
    if (this.failures === 0) return;
    const wasOpen = this.isOpen;
    this.failures = 0;
    if (wasOpen) this.onChange(false);
  }

  /** The node gave no usable answer. */
  failed(now: number): void {
    this.failures++;
    if (this.failures !== FAILURES) return;
    this.waitMs = FIRST_WAIT_MS;
    this.nextTry = now + FIRST_WAIT_MS;
    this.onChange(true);
  }
}

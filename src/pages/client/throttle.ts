/** Limits concurrent requests and their rate, and waits when the key's rate is used up. */

const MAX_IN_FLIGHT = 4;

export class Throttle {
  private inFlight = 0;
  private readonly queue: (() => void)[] = [];
  private pausedUntil = 0;
  /** Requests per second that the key permits, and how many remained at `refilledAt`. */
  private rate = Number.POSITIVE_INFINITY;
  private tokens = Number.POSITIVE_INFINITY;
  private refilledAt = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private readonly onPause: (seconds: number) => void;

  /** `onPause` is called with the seconds of a pause, and with 0 at its end. */
  constructor(onPause: (seconds: number) => void) {
    this.onPause = onPause;
  }

  /** Runs a request when its turn comes. */
  async run<T>(send: () => Promise<T>): Promise<T> {
    await new Promise<void>((resolve) => {
      this.queue.push(resolve);
      this.dispatch();
    });
    try {
      return await send();
    } finally {
      this.inFlight--;
      this.dispatch();
    }
  }

  /**
   * Adopts the rate limits in an answer's headers. Ignores those of the monthly quota, which reset later and say
   * nothing about the rate.
   */
  update(headers: Headers): void {
    const rate = Number(headers.get('RateLimit-Limit'));
    if (rate === 0 || Number(headers.get('RateLimit-Reset')) > 1) return;
    this.rate = rate;
    // Other requests in flight may not be counted yet.
    this.tokens = Number(headers.get('RateLimit-Remaining')) - (this.inFlight - 1);
    this.refilledAt = performance.now();
  }

  /** Sends no new requests for this many seconds. */
  pause(seconds: number): void {
    const until = performance.now() + seconds * 1000;
    if (until <= this.pausedUntil) return;
    this.pausedUntil = until;
    this.onPause(seconds);
    setTimeout(
      () => {
        if (performance.now() < this.pausedUntil) return;
        this.onPause(0);
        this.dispatch();
      },
      seconds * 1000 + 5,
    );
  }

  private dispatch(): void {
    while (this.inFlight < MAX_IN_FLIGHT && performance.now() >= this.pausedUntil && this.queue.length > 0) {
      this.refill();
      if (this.tokens < 1) {
        clearTimeout(this.timer);
        this.timer = setTimeout(() => this.dispatch(), Math.ceil(((1 - this.tokens) / this.rate) * 1000));
        return;
      }
      this.tokens--;
      this.inFlight++;
      this.queue.shift()?.();
    }
  }

  private refill(): void {
    const now = performance.now();
    if (this.rate < Number.POSITIVE_INFINITY)
      this.tokens = Math.min(this.rate, this.tokens + ((now - this.refilledAt) / 1000) * this.rate);
    this.refilledAt = now;
  }
}

/** How many blocks the node accepts in one `eth_getLogs`: configured, and raised by trying wider ranges. */

/** A refused width is tried again only after so many successful requests: limits may have been raised. */
const FORGET_AFTER = 10_000;

export class RangeLimit {
  private readonly max: number;
  /** Widest range that worked or was configured to. */
  private works: number;
  /** Narrowest range that was refused for its width. */
  private refused = Number.POSITIVE_INFINITY;
  private isProbing = false;
  private successes = 0;

  /** `max` is the widest range ever requested. */
  constructor(configured: number, max: number) {
    this.works = Math.min(configured, max);
    this.max = max;
  }

  /** The width known to work. */
  get width(): number {
    return this.works;
  }

  /** The width to request next: now and then one that may not work. */
  nextWidth(): number {
    const wider = Math.min(this.works * 2, this.max, Math.floor((this.works + this.refused) / 2));
    // A gain of less than an eighth is not worth a refusal.
    if (this.isProbing || wider < this.works * 1.125) return this.works;
    this.isProbing = true;
    return wider;
  }

  /** The node answered a range of that many blocks. */
  accepted(width: number): void {
    if (width > this.works) this.works = width;
    this.isProbing = false;
    this.successes++;
    if (this.successes < FORGET_AFTER) return;
    this.successes = 0;
    this.refused = Number.POSITIVE_INFINITY;
  }

  /** The node refused a range because of its width. */
  tooWide(width: number): void {
    this.refused = Math.min(this.refused, width);
    if (this.works >= width) this.works = Math.max(1, width >> 1);
    this.isProbing = false;
  }

  /** A try failed for another reason. */
  inconclusive(): void {
    this.isProbing = false;
  }
}

/** How many blocks the node accepts in one `eth_getLogs`: configured, and raised by trying wider ranges. */

/** A refused width is tried again only after so many successful requests: limits may have been raised. */
const FORGET_AFTER = 10_000;

export class NodeRange {
  private readonly max: number;
  /** Widest range that worked or was configured to. */
  private works: number;
  /** Narrowest range that was refused for its width. */
  private refused = Number.POSITIVE_INFINITY;
  private trying = false;
  private goneWell = 0;

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
  next(): number {
    const wider = Math.min(this.works * 2, this.max, Math.floor((this.works + this.refused) / 2));
    // A gain of less than an eighth is not worth a refusal.
    if (this.trying || wider < this.works * 1.125) return this.works;
    this.trying = true;
    return wider;
  }

  /** The node answered a range of that many blocks. */
  answered(width: number): void {
    if (width > this.works) this.works = width;
    this.trying = false;
    this.goneWell++;
    if (this.goneWell < FORGET_AFTER) return;
    this.goneWell = 0;
    this.refused = Number.POSITIVE_INFINITY;
  }

  /** The node refused a range because of its width. */
  tooWide(width: number): void {
    this.refused = Math.min(this.refused, width);
    if (this.works >= width) this.works = Math.max(1, width >> 1);
    this.trying = false;
  }

  /** A try failed for another reason. */
  undecided(): void {
    this.trying = false;
  }
}

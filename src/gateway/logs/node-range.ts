/** How many blocks the node accepts in one `eth_getLogs`: configured, then raised by trying wider ranges. */

import type { CallResult } from '../call.ts';
import { errorOf, isResult } from '../response-tail.ts';

/** Why nodes refuse an `eth_getLogs`. No error code exists for it, so the message must be matched. */
const TOO_MUCH = /too (large|wide|big|many|long)|exceed|limited|limit of|maximum|\bmax\b|more than/i;

/** Concerns the number of blocks: geth, reth, Monad, Erigon, hosted nodes. */
const OF_BLOCKS = /\brange|\bblocks\b/i;

/** Concerns the number of logs or the bytes of the answer. */
const OF_RESULTS = /\bresults?\b|\blogs?\b|\bsize\b|\bresponse\b/i;

/**
 * `wide` when the range has too many blocks, `large` when it has too many logs. A narrower range helps in both cases;
 * with `large`, other ranges of this width may still work. Null for any other answer.
 */
export function classifyRefusal({ tail, status }: CallResult): 'wide' | 'large' | null {
  if (status !== 200 || isResult(tail)) return null;
  const { message } = errorOf(tail);
  if (!TOO_MUCH.test(message)) return null;
  if (OF_RESULTS.test(message)) return 'large';
  return OF_BLOCKS.test(message) ? 'wide' : null;
}
/** A refused width is retried only after this many successful requests, because limits may have been raised. */
const FORGET_AFTER = 10_000;

export class RangeLimit {
  private readonly max: number;
  /** Widest range that worked or was configured. */
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

  /** The next width to request: occasionally one that may not work. */
  nextWidth(): number {
    const wider = Math.min(this.works * 2, this.max, Math.floor((this.works + this.refused) / 2));
    // A gain below one eighth is not worth a refusal.
    if (this.isProbing || wider < this.works * 1.125) return this.works;
    this.isProbing = true;
    return wider;
  }

  /** The node answered a range of this many blocks. */
  accepted(width: number): void {
    if (width > this.works) this.works = width;
    this.isProbing = false;
    this.successes++;
    if (this.successes < FORGET_AFTER) return;
    this.successes = 0;
    this.refused = Number.POSITIVE_INFINITY;
  }

  /** The node refused a range for its width. */
  tooWide(width: number): void {
    this.refused = Math.min(this.refused, width);
    if (this.works >= width) this.works = Math.max(1, width >> 1);
    this.isProbing = false;
  }

  /** A probe failed for another reason. */
  inconclusive(): void {
    this.isProbing = false;
  }
}

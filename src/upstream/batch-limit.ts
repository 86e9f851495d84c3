/** Full batches that must pass before a larger one is tried again: a wasted exchange in 256 costs nothing. */
const FULL_BATCHES_BEFORE_GROWTH = 256;

/**
 * How many calls a batch may carry: learnt from refusals, since nodes do not say.
 * It grows back slowly, because a limit on the bytes of an answer depends on how busy the blocks are.
 */
export class BatchLimit {
  private readonly configured: number;
  private current: number;
  private fullBatches = 0;

  constructor(configured: number) {
    this.configured = configured;
    this.current = configured;
  }

  get size(): number {
    return this.current;
  }

  refused(calls: number): void {
    this.current = Math.max(1, Math.min(this.current, calls >> 1));
    this.fullBatches = 0;
  }

  accepted(calls: number): void {
    if (calls < this.current || this.current === this.configured) return;
    this.fullBatches += 1;
    if (this.fullBatches < FULL_BATCHES_BEFORE_GROWTH) return;
    this.current = Math.min(this.configured, this.current * 2);
    this.fullBatches = 0;
  }
}

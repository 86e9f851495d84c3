/** Full batches that must pass before a larger one is tried again: a wasted exchange in 256 costs nothing. */
const FULL_BATCHES_BEFORE_GROWTH = 256;

/**
 * How many calls a batch may carry: learnt from refusals, since nodes do not tell.
 * It grows back slowly, because a limit on the bytes of an answer depends on how busy the blocks are.
 */
export class BatchLimit {
  readonly #configured: number;
  #size: number;
  #fullBatches = 0;

  constructor(configured: number) {
    this.#configured = configured;
    this.#size = configured;
  }

  get size(): number {
    return this.#size;
  }

  refused(calls: number): void {
    this.#size = Math.max(1, Math.min(this.#size, calls >> 1));
    this.#fullBatches = 0;
  }

  accepted(calls: number): void {
    if (calls < this.#size || this.#size === this.#configured) return;
    this.#fullBatches += 1;
    if (this.#fullBatches < FULL_BATCHES_BEFORE_GROWTH) return;
    this.#size = Math.min(this.#configured, this.#size * 2);
    this.#fullBatches = 0;
  }
}

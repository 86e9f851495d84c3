/** Memory for the unfinished runs of the wallets that one commit changes. */

const BLOCK_BYTES = 2 ** 18;

/**
 * Cut from large blocks: a buffer of its own for each run costs more than all else done to it. The blocks serve one
 * commit after the other; left to the collector, those of several would stand beside each other.
 */
export class RunMemory {
  /** Where the piece taken last lies. */
  block = new Uint8Array(BLOCK_BYTES);
  start = 0;
  private readonly blocks = [this.block];
  private inUse = 1;
  private end = 0;

  /** Takes everything back; blocks that were not needed since the last time go. */
  reset(): void {
    this.blocks.length = this.inUse;
    this.begin(0);
  }

  /** Sets `block` and `start` to a piece of so many bytes, whatever is in them. */
  take(bytes: number): void {
    if (this.end + bytes > this.block.length) {
      if (bytes > BLOCK_BYTES) throw new Error(`a run of ${bytes} bytes: the index is damaged`);
      if (this.inUse === this.blocks.length) this.blocks.push(new Uint8Array(BLOCK_BYTES));
      this.begin(this.inUse);
    }
    this.start = this.end;
    this.end += bytes;
  }

  private begin(block: number): void {
    this.block = this.blocks[block]!;
    this.inUse = block + 1;
    this.end = 0;
  }
}

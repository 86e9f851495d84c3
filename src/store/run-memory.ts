/** Memory for the unfinished runs of the wallets that one commit changes. */

const BLOCK_BYTES = 2 ** 18;

/**
 * Pieces are cut from large blocks: a separate buffer per run would cost more than all other work on the run. Each
 * commit reuses the blocks; left to the garbage collector, those of several commits would exist at once.
 */
export class RunMemory {
  /** The block that holds the piece taken last. */
  block = new Uint8Array(BLOCK_BYTES);
  start = 0;
  private readonly blocks = [this.block];
  private inUse = 1;
  private end = 0;

  /** Takes all pieces back; drops blocks that were not used since the last reset. */
  reset(): void {
    this.blocks.length = this.inUse;
    this.begin(0);
  }

  /** Sets `block` and `start` to a piece of `bytes` bytes, which are not cleared. */
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

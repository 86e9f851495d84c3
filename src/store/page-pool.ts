/** Memory for the unfinished runs of the wallets that one commit changes. */
import { DamageError } from './storage-error.ts';

const CHUNK_BYTES = 2 ** 18;

/**
 * Pieces are cut from large chunks: a separate buffer per run would cost more than all other work on the run. Each
 * commit reuses the chunks; left to the garbage collector, those of several commits would exist at once.
 */
export class PagePool {
  /** The chunk that holds the piece allocated last. */
  chunk = new Uint8Array(CHUNK_BYTES);
  start = 0;
  private readonly chunks = [this.chunk];
  private inUse = 1;
  private end = 0;

  /** Takes all pieces back; drops chunks that were not used since the last reset. */
  reset(): void {
    this.chunks.length = this.inUse;
    this.useChunk(0);
  }

  /** Sets `chunk` and `start` to a piece of `bytes` bytes, which are not cleared. */
  allocate(bytes: number): void {
    if (this.end + bytes > this.chunk.length) {
      if (bytes > CHUNK_BYTES)
        throw new DamageError(
          `the newest transfers of a wallet need ${bytes} bytes, more than a run can have`,
        );
      if (this.inUse === this.chunks.length) this.chunks.push(new Uint8Array(CHUNK_BYTES));
      this.useChunk(this.inUse);
    }
    this.start = this.end;
    this.end += bytes;
  }

  private useChunk(index: number): void {
    this.chunk = this.chunks[index]!;
    this.inUse = index + 1;
    this.end = 0;
  }
}

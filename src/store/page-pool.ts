/** Memory for the open pages of the wallets that one commit changes. */
import { DamageError } from './storage-error.ts';

const CHUNK_BYTES = 2 ** 18;

/**
 * Allocates pages from large chunks, because a buffer per page would cost more than all other work on the page. Commits
 * reuse the chunks. If the garbage collector freed them, the chunks of several commits would exist at once.
 */
export class PagePool {
  /** The chunk that holds the last allocated slot, which begins at `start`. */
  chunk = new Uint8Array(CHUNK_BYTES);
  start = 0;
  private readonly chunks = [this.chunk];
  private inUse = 1;
  private end = 0;

  /** Frees all slots; drops the chunks that were not used since the last reset. */
  reset(): void {
    this.chunks.length = this.inUse;
    this.useChunk(0);
  }

  /** Allocates `bytes` bytes, not cleared, and points `chunk` and `start` at them. */
  allocate(bytes: number): void {
    if (this.end + bytes > this.chunk.length) {
      if (bytes > CHUNK_BYTES)
        throw new DamageError(
          `the newest transfers of a wallet need ${bytes} bytes, more than a history page can have`,
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

/** Memory for the open pages of the wallets that one commit changes. */
import { DamageError } from '../storage-error.ts';

const CHUNK_BYTES = 2 ** 18;

/**
 * Allocates pages from large chunks, because one buffer per page would cost more than all other work on the page.
 * Commits reuse the chunks: if the garbage collector had to free them, the chunks of several commits would exist at
 * once.
 */
export class PagePool {
  private readonly chunks = [new Uint8Array(CHUNK_BYTES)];
  private inUse = 1;
  private end = 0;

  /** Frees all pages and drops the chunks unused since the last reset. */
  reset(): void {
    this.chunks.length = this.inUse;
    this.inUse = 1;
    this.end = 0;
  }

  /** Allocates `bytes` uninitialised bytes. Returns their position for `chunkAt` and `offsetOf`. */
  allocate(bytes: number): number {
    if (this.end + bytes > CHUNK_BYTES) {
      if (bytes > CHUNK_BYTES)
        throw new DamageError(
          `the newest transfers of a wallet need ${bytes} bytes, more than a history page can have`,
        );
      if (this.inUse === this.chunks.length) this.chunks.push(new Uint8Array(CHUNK_BYTES));
      this.inUse++;
      this.end = 0;
    }
    const position = (this.inUse - 1) * CHUNK_BYTES + this.end;
    this.end += bytes;
    return position;
  }

  chunkAt(position: number): Uint8Array {
    return this.chunks[Math.floor(position / CHUNK_BYTES)]!;
  }

  offsetOf(position: number): number {
    return position % CHUNK_BYTES;
  }
}

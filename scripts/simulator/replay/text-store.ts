import { closeSync, mkdtempSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';

/** A text in memory, or its position in the compressed overflow file. */
export type StoredText = Buffer | { offset: number; length: number };

/** The fastest level. It shrinks block JSON to a seventh; reading back takes a millisecond per megabyte. */
const COMPRESSION = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };

/**
 * Recorded texts: in memory up to a limit, the rest in a temporary file that vanishes with the process. The file is
 * compressed so that the system can cache it, without gigabytes of I/O on a disk that a measurement also uses.
 */
export class TextStore {
  private readonly maxBytes: number;
  private overflow: number | null = null;
  memoryBytes = 0;
  spilledBytes = 0;

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes;
  }

  /** Keeps the text itself, not a copy. */
  keep(text: Buffer): StoredText {
    if (this.memoryBytes + text.length <= this.maxBytes) {
      this.memoryBytes += text.length;
      return text;
    }
    this.overflow ??= openUnlinked();
    const offset = this.spilledBytes;
    const packed = zstdCompressSync(text, COMPRESSION);
    writeSync(this.overflow, packed, 0, packed.length, offset);
    this.spilledBytes += packed.length;
    return { offset, length: packed.length };
  }

  read(text: StoredText): Buffer {
    if (Buffer.isBuffer(text)) return text;
    if (this.overflow === null) throw new Error('the text store is closed');
    const packed = Buffer.allocUnsafe(text.length);
    readSync(this.overflow, packed, 0, text.length, text.offset);
    return zstdDecompressSync(packed);
  }

  close(): void {
    if (this.overflow !== null) closeSync(this.overflow);
    this.overflow = null;
  }
}

/** An unlinked file needs no cleanup, however the process ends. */
function openUnlinked(): number {
  const folder = mkdtempSync(join(tmpdir(), 'replay-node-'));
  const file = openSync(join(folder, 'overflow'), 'w+');
  rmSync(folder, { recursive: true });
  return file;
}

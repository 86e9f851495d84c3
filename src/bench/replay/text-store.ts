import { closeSync, mkdtempSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A text in memory, or where it lies in the overflow file. */
export type StoredText = Buffer | { offset: number; length: number };

/** Recorded texts: in memory up to a limit, the rest in a temporary file that vanishes with the process. */
export class TextStore {
  readonly #maxBytes: number;
  #overflow: number | null = null;
  memoryBytes = 0;
  spilledBytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Keeps the text itself, not a copy. */
  keep(text: Buffer): StoredText {
    if (this.memoryBytes + text.length <= this.#maxBytes) {
      this.memoryBytes += text.length;
      return text;
    }
    this.#overflow ??= openUnlinked();
    const offset = this.spilledBytes;
    writeSync(this.#overflow, text, 0, text.length, offset);
    this.spilledBytes += text.length;
    return { offset, length: text.length };
  }

  read(text: StoredText): Buffer {
    if (Buffer.isBuffer(text)) return text;
    if (this.#overflow === null) throw new Error('the text store is closed');
    const buffer = Buffer.allocUnsafe(text.length);
    readSync(this.#overflow, buffer, 0, text.length, text.offset);
    return buffer;
  }

  close(): void {
    if (this.#overflow !== null) closeSync(this.#overflow);
    this.#overflow = null;
  }
}

/** A file that has no name any more: it needs no cleaning up, however the process ends. */
function openUnlinked(): number {
  const folder = mkdtempSync(join(tmpdir(), 'replay-node-'));
  const file = openSync(join(folder, 'overflow'), 'w+');
  rmSync(folder, { recursive: true });
  return file;
}

/** LRU cache of answers that can never change, bounded in bytes. */
import { detachString } from '../lib/detach-string.ts';

/** Overhead of an entry beyond its bytes and the text of its key. */
const OVERHEAD_BYTES = 256;
/** No answer may take more than this part of the cache. */
const LARGEST_SHARE = 1 / 8;

export class AnswerCache {
  /** Bytes of the largest payload that is kept. */
  readonly maxEntryBytes: number;
  private readonly maxBytes: number;
  /** Payloads by the key of their call; the Map's insertion order gives the least recently used. */
  private readonly entries = new Map<string, Buffer>();
  private used = 0;

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes;
    this.maxEntryBytes = Math.floor(maxBytes * LARGEST_SHARE);
  }

  /** Bytes in use. */
  get bytes(): number {
    return this.used;
  }

  /** The payload that was kept; it must not be changed. */
  get(key: string): Buffer | undefined {
    const payload = this.entries.get(key);
    if (payload === undefined) return undefined;
    this.entries.delete(key);
    this.entries.set(key, payload);
    return payload;
  }

  /** Keeps a copy of a payload, unless it is too large. */
  put(key: string, payload: Buffer): void {
    const size = sizeOf(key, payload);
    if (payload.length > this.maxEntryBytes || size > this.maxBytes) return;
    this.remove(key);
    for (const oldest of this.entries.keys()) {
      if (this.used + size <= this.maxBytes) break;
      this.remove(oldest);
    }
    this.entries.set(detachString(key), Buffer.from(payload));
    this.used += size;
  }

  clear(): void {
    this.entries.clear();
    this.used = 0;
  }

  private remove(key: string): void {
    const payload = this.entries.get(key);
    if (payload === undefined) return;
    this.entries.delete(key);
    this.used -= sizeOf(key, payload);
  }
}

function sizeOf(key: string, payload: Buffer): number {
  return payload.length + key.length + OVERHEAD_BYTES;
}

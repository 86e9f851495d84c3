/** LRU cache of answers that can never change, bounded in bytes. */
import { detachString } from '../lib/text.ts';

/** Overhead of an entry beyond its bytes and the text of its key. */
const OVERHEAD_BYTES = 256;
/** Largest share of the cache for one answer. */
const LARGEST_SHARE = 1 / 8;

/** Most characters of the keys of one generation. A log filter may be long. */
const MAX_CHARS = 2 * 2 ** 20;
/** Cost of an entry beyond its characters. */
const OVERHEAD_CHARS = 64;

export class AnswerCache {
  /** Largest response tail to cache, bytes. */
  readonly maxEntryBytes: number;
  private readonly maxBytes: number;
  /** Response tails by call key. The Map's insertion order yields the least recently used one. */
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

  /** The cached response tail. Read-only. */
  get(key: string): Buffer | undefined {
    const tail = this.entries.get(key);
    if (tail === undefined) return undefined;
    this.entries.delete(key);
    this.entries.set(key, tail);
    return tail;
  }

  /** Caches a response tail unless it is too large. Copies it if its memory is reused or part of a larger piece. */
  put(key: string, tail: Buffer, mayRetain = false): void {
    const size = sizeOf(key, tail);
    if (tail.length > this.maxEntryBytes || size > this.maxBytes) return;
    this.remove(key);
    for (const oldest of this.entries.keys()) {
      if (this.used + size <= this.maxBytes) break;
      this.remove(oldest);
    }
    const isWhole = mayRetain && tail.buffer.byteLength <= tail.length + OVERHEAD_BYTES;
    this.entries.set(detachString(key), isWhole ? tail : Buffer.from(tail));
    this.used += size;
  }

  clear(): void {
    this.entries.clear();
    this.used = 0;
  }

  private remove(key: string): void {
    const tail = this.entries.get(key);
    if (tail === undefined) return;
    this.entries.delete(key);
    this.used -= sizeOf(key, tail);
  }
}

function sizeOf(key: string, tail: Buffer): number {
  return tail.length + key.length + OVERHEAD_BYTES;
}

/**
 * Remembers calls whose answers could be cached with a proof that they are final. Only a repeated call pays for the
 * proof, so answers requested only once do not evict others.
 */
export class CacheDoorkeeper {
  /** The older generation is dropped when the younger one is full. */
  private younger = new Set<string>();
  private older = new Set<string>();
  private chars = 0;

  has(key: string): boolean {
    return this.younger.has(key) || this.older.has(key);
  }

  add(key: string): void {
    if (this.has(key)) return;
    if (this.chars >= MAX_CHARS) {
      this.older = this.younger;
      this.younger = new Set();
      this.chars = 0;
    }
    this.younger.add(detachString(key));
    this.chars += key.length + OVERHEAD_CHARS;
  }

  delete(key: string): void {
    this.younger.delete(key);
    this.older.delete(key);
  }

  clear(): void {
    this.younger.clear();
    this.older.clear();
    this.chars = 0;
  }
}

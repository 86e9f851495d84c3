/** An LRU cache with two generations: a hit in the younger one writes nothing. */
export class LruMap<K, V> {
  private readonly size: number;
  private young = new Map<K, V>();
  /** Null until `young` fills up for the first time, because many caches stay small. */
  private old: Map<K, V> | null = null;

  /** Keeps at least the `size` most recently used entries, and at most twice as many. */
  constructor(size: number) {
    this.size = size;
  }

  get(key: K): V | undefined {
    const value = this.young.get(key);
    if (value !== undefined) return value;
    const older = this.old?.get(key);
    if (older !== undefined) this.set(key, older);
    return older;
  }

  set(key: K, value: V): void {
    if (this.young.size >= this.size) {
      this.old = this.young;
      this.young = new Map();
    }
    this.young.set(key, value);
  }

  clear(): void {
    this.young.clear();
    this.old = null;
  }
}

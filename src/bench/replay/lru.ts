/** The `max` most recently used values. */
export class Lru<K, V> {
  private readonly max: number;
  private readonly values = new Map<K, V>();

  constructor(max: number) {
    this.max = max;
  }

  /** The value of a key, made by `create` when it is not held. */
  getOrCreate(key: K, create: () => V): V {
    const held = this.values.get(key);
    const value = held ?? create();
    this.values.delete(key);
    this.values.set(key, value);
    if (this.values.size > this.max) {
      for (const oldest of this.values.keys()) {
        this.values.delete(oldest);
        break;
      }
    }
    return value;
  }
}

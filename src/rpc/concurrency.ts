/** How many calls of each key wait for the node at present. */
export class Concurrency {
  private readonly limit: number;
  private readonly waiting = new Map<number, number>();

  constructor(limit: number) {
    this.limit = limit;
  }

  /** Lets so many calls of a key in, or none if they would be too many. */
  enter(key: number, calls: number): boolean {
    const now = (this.waiting.get(key) ?? 0) + calls;
    if (now > this.limit) return false;
    this.waiting.set(key, now);
    return true;
  }

  leave(key: number, calls: number): void {
    const now = (this.waiting.get(key) ?? 0) - calls;
    if (now > 0) this.waiting.set(key, now);
    else this.waiting.delete(key);
  }
}

/** How much each key holds at present of what all share. */
export class PerKeyLimit {
  private readonly limit: number;
  private readonly held = new Map<number, number>();

  /** `limit`: what one key may hold. */
  constructor(limit: number) {
    this.limit = limit;
  }

  /** Adds to what a key holds; false, with nothing added, when that would pass the limit. */
  tryAcquire(key: number, amount: number): boolean {
    const now = (this.held.get(key) ?? 0) + amount;
    if (now > this.limit) return false;
    this.held.set(key, now);
    return true;
  }

  release(key: number, amount: number): void {
    const now = (this.held.get(key) ?? 0) - amount;
    if (now > 0) this.held.set(key, now);
    else this.held.delete(key);
  }
}

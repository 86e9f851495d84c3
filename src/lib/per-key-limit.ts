/** Limits how much of a shared resource each key holds. */
export class PerKeyLimit {
  private readonly limit: number;
  private readonly held = new Map<number, number>();

  constructor(limit: number) {
    this.limit = limit;
  }

  /** False, with nothing acquired, if the key would exceed the limit. */
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

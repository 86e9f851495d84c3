/** Limits how much of a shared resource each key holds at a time. */
export class PerKeyLimit {
  private readonly limit: number;
  private readonly held = new Map<number, number>();

  constructor(limit: number) {
    this.limit = limit;
  }

  /** Returns false, and acquires nothing, if the key would exceed the limit. */
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

/** Limits the work done in one turn of the event loop, so that other clients do not wait. */
export class TurnBudget {
  private readonly perTurn: number;
  private left: number;
  private isSpending = false;

  constructor(perTurn: number) {
    this.perTurn = perTurn;
    this.left = perTurn;
  }

  /** Counts work. Returns false if the rest must wait for the next turn. */
  spend(amount: number): boolean {
    this.left -= amount;
    if (!this.isSpending) {
      this.isSpending = true;
      setImmediate(() => {
        this.isSpending = false;
        this.left = this.perTurn;
      });
    }
    return this.left > 0;
  }
}

/** Allows an event once per interval and key. Keeps every key, so the caller must bound their number. */
export class RepeatLimit {
  private readonly everyMs: number;
  private readonly allowedAt = new Map<string, number>();

  constructor(everyMs: number) {
    this.everyMs = everyMs;
  }

  allows(key: string, now = performance.now()): boolean {
    const last = this.allowedAt.get(key);
    if (last !== undefined && now - last < this.everyMs) return false;
    this.allowedAt.set(key, now);
    return true;
  }
}

/** Lets what keeps coming back through once in a while, by key; the caller keeps the number of keys small. */
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

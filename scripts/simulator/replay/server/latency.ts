import type { Prng } from '../../../../src/lib/random.ts';

/** Delays answers: a fixed delay plus a random one. */
export class Latency {
  /** Milliseconds. */
  fixedMs: number;
  private readonly jitterMs: number;
  private readonly prng: Prng;
  private readonly pending = new Set<NodeJS.Timeout>();

  constructor(fixedMs: number, jitterMs: number, prng: Prng) {
    this.fixedMs = fixedMs;
    this.jitterMs = jitterMs;
    this.prng = prng;
  }

  /** Runs `answer` after its delay; immediately if there is none. */
  delay(answer: () => void): void {
    const wait = this.fixedMs + (this.jitterMs > 0 ? this.prng.fraction() * this.jitterMs : 0);
    if (wait === 0) {
      answer();
      return;
    }
    const timer = setTimeout(() => {
      this.pending.delete(timer);
      answer();
    }, wait);
    this.pending.add(timer);
  }

  /** Drops delayed answers. */
  close(): void {
    for (const timer of this.pending) clearTimeout(timer);
    this.pending.clear();
  }
}

/**
 * Which wallets another deals with most. A hot wallet has millions of entries with hundreds of thousands of others,
 * and then the time goes into waiting for memory: so a wallet's key, count and last transfer lie side by side in
 * one hash table of typed arrays, and an entry touches one line of it.
 */

/** Bytes of a slot: the key plus one (0 where empty) and the count as 32-bit integers, the last transfer as a double. */
const SLOT = 16;
/** A power of two, as all later sizes. */
const FIRST_SLOTS = 1024;
/** Odd, and spreads neighbouring keys: 2^32 divided by the golden ratio. */
const SPREAD = 0x9e3779b1;
/** Part of the slots that may be in use, and by how much the table grows before it would be more. */
const MAX_LOAD = 0.6;
const GROWTH = 4;

export class Ranking {
  private used = 0;
  private integers: Int32Array;
  private lasts: Float64Array;

  constructor() {
    const memory = new ArrayBuffer(FIRST_SLOTS * SLOT);
    this.integers = new Int32Array(memory);
    this.lasts = new Float64Array(memory);
  }

  /**
   * Counts a transfer with each of the first `count` others, whose ids are below 2^31 - 1. Many at a time, so that the
   * processor can wait for the memory of several at once.
   */
  add(others: Int32Array, transfers: Float64Array, count: number): void {
    if (this.used + count > (this.integers.length / 4) * MAX_LOAD) this.grow();
    const { integers, lasts } = this;
    const mask = integers.length / 4 - 1;
    for (let i = 0; i < count; i++) {
      const key = others[i]! + 1;
      let slot = (Math.imul(key, SPREAD) >>> 7) & mask;
      let found = integers[slot * 4]!;
      while (found !== key && found !== 0) {
        slot = (slot + 1) & mask;
        found = integers[slot * 4]!;
      }
      if (found === 0) {
        integers[slot * 4] = key;
        this.used++;
      }
      integers[slot * 4 + 1]!++;
      if (transfers[i]! > lasts[slot * 2 + 1]!) lasts[slot * 2 + 1] = transfers[i]!;
    }
  }

  /** The wallets with most transfers, most first; of equal ones that with the latest. */
  top(limit: number): number[] {
    const best: number[] = [];
    for (let slot = 0; slot * 4 < this.integers.length; slot++) {
      if (this.integers[slot * 4] === 0) continue;
      if (best.length === limit) {
        if (this.compare(slot, best[limit - 1]!) >= 0) continue;
        best.pop();
      }
      let at = best.length;
      while (at > 0 && this.compare(slot, best[at - 1]!) < 0) at--;
      best.splice(at, 0, slot);
    }
    return best.map((slot) => this.integers[slot * 4]! - 1);
  }

  private compare(a: number, b: number): number {
    const { integers, lasts } = this;
    return integers[b * 4 + 1]! - integers[a * 4 + 1]! || lasts[b * 2 + 1]! - lasts[a * 2 + 1]!;
  }

  private grow(): void {
    const { integers, lasts } = this;
    const memory = new ArrayBuffer(integers.byteLength * GROWTH);
    this.integers = new Int32Array(memory);
    this.lasts = new Float64Array(memory);
    const mask = this.integers.length / 4 - 1;
    for (let from = 0; from * 4 < integers.length; from++) {
      const key = integers[from * 4]!;
      if (key === 0) continue;
      let to = (Math.imul(key, SPREAD) >>> 7) & mask;
      while (this.integers[to * 4] !== 0) to = (to + 1) & mask;
      this.integers[to * 4] = key;
      this.integers[to * 4 + 1] = integers[from * 4 + 1]!;
      this.lasts[to * 2 + 1] = lasts[from * 2 + 1]!;
    }
  }
}

/**
 * How many transfers a wallet has with each other one. A hot wallet has millions of entries with hundreds of thousands
 * of others, and then the time goes into waiting for memory: so there is nothing but keys and counts, side by side in
 * one typed array.
 */

/** Integers of a slot: the key plus one (0 where empty), and the count. */
const SLOT = 2;
/** A power of two, as all later sizes. */
const FIRST_SLOTS = 4096;
/** Part of the slots that may be in use. */
const MAX_LOAD = 0.6;
/** Odd, and spreads neighbouring keys: 2^32 divided by the golden ratio. */
const SPREAD = 0x9e3779b1;

/** The first ranks by count alone. */
export interface FirstRanks {
  /** Those that are among the first whatever else decides. */
  sure: number[];
  /** How many of those with `tiedCount` transfers are among the first too. */
  room: number;
  tiedCount: number;
}

export class Ranking {
  private used = 0;
  private slots = new Int32Array(FIRST_SLOTS * SLOT);

  /**
   * Counts one transfer with each of the first `length` others, whose ids are below 2^31 - 1. Many at a time, so that
   * the processor waits for the memory of several at once.
   */
  add(others: Int32Array, length: number): void {
    if (this.used + length > (this.slots.length / SLOT) * MAX_LOAD) this.grow();
    const { slots } = this;
    for (let i = 0; i < length; i++) {
      const key = others[i]! + 1;
      const at = place(slots, key);
      if (slots[at] === 0) {
        slots[at] = key;
        this.used++;
      }
      slots[at + 1]!++;
    }
  }

  countOf(other: number): number {
    return this.slots[place(this.slots, other + 1) + 1]!;
  }

  /** The wallets with most transfers, `limit` in all; which of equal ones is left open. */
  first(limit: number): FirstRanks {
    const { slots } = this;
    const best: number[] = [];
    for (let at = 0; at < slots.length; at += SLOT) {
      const count = slots[at + 1]!;
      if (count === 0) continue;
      if (best.length === limit) {
        if (count <= slots[best[limit - 1]! + 1]!) continue;
        best.pop();
      }
      let rank = best.length;
      while (rank > 0 && count > slots[best[rank - 1]! + 1]!) rank--;
      best.splice(rank, 0, at);
    }
    const tiedCount = best.length < limit ? 0 : slots[best[limit - 1]! + 1]!;
    const sure = best.filter((at) => slots[at + 1]! > tiedCount).map((at) => slots[at]! - 1);
    return { sure, room: best.length - sure.length, tiedCount };
  }

  private grow(): void {
    const { slots } = this;
    this.slots = new Int32Array(slots.length * 2);
    for (let from = 0; from < slots.length; from += SLOT) {
      const key = slots[from]!;
      if (key === 0) continue;
      const to = place(this.slots, key);
      this.slots[to] = key;
      this.slots[to + 1] = slots[from + 1]!;
    }
  }
}

/** Where the slot of a key begins, or where it would. */
function place(slots: Int32Array, key: number): number {
  const mask = slots.length - SLOT;
  let at = (Math.imul(key, SPREAD) >>> 6) & mask;
  while (slots[at] !== key && slots[at] !== 0) at = (at + SLOT) & mask;
  return at;
}

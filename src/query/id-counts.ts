/**
 * Counts per id: columns of numbers instead of a Map, since a window of the chain has hundreds of thousands of wallets.
 */

/** Initial number of slots; always a power of two. */
const INITIAL_SLOTS = 1_024;
/** 2^32 divided by the golden ratio, made odd. Spreads neighbouring ids. */
const HASH_MULTIPLIER = 0x9e3779b1;

export interface IdCount {
  id: number;
  count: number;
}

export class IdCounts {
  /** The id in each slot, 0 for an empty one. */
  private ids = new Int32Array(INITIAL_SLOTS);
  private counts = new Int32Array(INITIAL_SLOTS);
  private used = 0;

  /** Adds `by` to the count of an id above 0. */
  add(id: number, by: number): void {
    const at = this.slotOf(id);
    if (this.ids[at] === 0) {
      if (this.used * 2 >= this.ids.length) {
        this.rebuild();
        this.add(id, by);
        return;
      }
      this.ids[at] = id;
      this.used++;
    }
    this.counts[at]! += by;
  }

  /** The `limit` ids with the highest counts above 0, highest first; of equal ones the lower id first. */
  top(limit: number): IdCount[] {
    const best: IdCount[] = [];
    const { ids, counts } = this;
    for (let at = 0; at < ids.length; at++) {
      const [id, count] = [ids[at]!, counts[at]!];
      const last = best.length < limit ? undefined : best[limit - 1]!;
      if (count <= 0 || (last !== undefined && !isBefore(id, count, last))) continue;
      if (last !== undefined) best.pop();
      let rank = best.length;
      while (rank > 0 && isBefore(id, count, best[rank - 1]!)) rank--;
      best.splice(rank, 0, { id, count });
    }
    return best;
  }

  /** Drops ids whose count is 0, and makes room for as many as remain. */
  private rebuild(): void {
    const { ids, counts } = this;
    const left = counts.reduce((sum, count) => sum + Number(count !== 0), 0);
    let slots = INITIAL_SLOTS;
    while (slots < left * 4) slots *= 2;
    this.ids = new Int32Array(slots);
    this.counts = new Int32Array(slots);
    this.used = left;
    for (let old = 0; old < ids.length; old++) {
      if (counts[old] === 0) continue;
      const at = this.slotOf(ids[old]!);
      this.ids[at] = ids[old]!;
      this.counts[at] = counts[old]!;
    }
  }

  /** The slot of an id, or the empty slot where it would go. */
  private slotOf(id: number): number {
    const { ids } = this;
    const mask = ids.length - 1;
    let at = (Math.imul(id, HASH_MULTIPLIER) >>> 8) & mask;
    while (ids[at] !== 0 && ids[at] !== id) at = (at + 1) & mask;
    return at;
  }
}

function isBefore(id: number, count: number, other: IdCount): boolean {
  return count > other.count || (count === other.count && id < other.id);
}

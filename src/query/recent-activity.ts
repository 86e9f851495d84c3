/**
 * The tokens and wallets with most transfers in the last blocks. Caches the counts of the last request, so that the
 * next one reads only the transfers that entered and left the window.
 */
import type { BlockRef } from '../model/block.ts';
import { prepareLastBlock } from '../store/chain.ts';
import type { Db } from '../store/open-database.ts';
import { tokenOf, ZERO_WALLET } from '../store/schema.ts';
import { type IdRange, prepareLastIdsAt } from './blocks.ts';
import type { WorkBudget } from './work-budget.ts';

/** Rows per read. */
const ROWS_PER_READ = 4_096;

interface RecentActivity {
  /** Transfers by tokens.id. */
  tokens: IdCount[];
  /** Transfers by wallets.id, without the zero address. */
  wallets: IdCount[];
}

interface Window {
  range: IdRange;
  /** The head at the time of counting. */
  tip: BlockRef;
  tokens: IdCounts;
  wallets: IdCounts;
}

type ScannedTransfer = [sender: number, receiver: number, tokenKind: number];

/** The `limit` most active within a range of ids that ends at the head; of equal ones the one seen earlier first. */
export function prepareRecentActivity(
  db: Db,
): (range: IdRange, limit: number, budget: WorkBudget) => RecentActivity {
  const rows = db
    .prepare<[number, number], ScannedTransfer>(
      // `token` takes longer to compute than `token_kind`.
      'SELECT sender, receiver, token_kind FROM transfers WHERE id >= +? AND id < +?',
    )
    .raw();
  const lastBlock = prepareLastBlock(db);
  const lastIdsAt = prepareLastIdsAt(db);
  let kept: Window | null = null;

  const count = (window: Window, { from, below }: IdRange, sign: 1 | -1, budget: WorkBudget): void => {
    for (let at = from; at < below; at += ROWS_PER_READ) {
      budget.spend(Math.min(ROWS_PER_READ, below - at));
      for (const [sender, receiver, tokenKind] of rows.all(at, Math.min(below, at + ROWS_PER_READ))) {
        if (sender !== ZERO_WALLET) window.wallets.add(sender, sign);
        if (receiver !== ZERO_WALLET && receiver !== sender) window.wallets.add(receiver, sign);
        const token = tokenOf(tokenKind);
        if (token !== 0) window.tokens.add(token, sign);
      }
    }
  };

  return (range, limit, budget) => {
    const tip = lastBlock();
    if (tip === null) return { tokens: [], wallets: [] };
    const known =
      kept !== null && isContinuation(kept, range) && lastIdsAt(kept.tip) !== undefined ? kept : null;
    const window = known ?? {
      range: { from: range.from, below: range.from },
      tip,
      tokens: new IdCounts(),
      wallets: new IdCounts(),
    };
    budget.ensure(range.from - window.range.from + range.below - window.range.below);
    kept = null; // invalid until complete: the budget may run out midway
    count(window, { from: window.range.from, below: range.from }, -1, budget);
    count(window, { from: window.range.below, below: range.below }, 1, budget);
    window.range = range;
    window.tip = tip;
    kept = window;
    return { tokens: window.tokens.top(limit), wallets: window.wallets.top(limit) };
  };
}

/** Whether moving the window costs less than counting it again. */
function isContinuation({ range: { from, below } }: Window, range: IdRange): boolean {
  return range.from >= from && range.below >= below && range.from - from < range.below - range.from;
}

/** Initial number of slots; always a power of two. */
const INITIAL_SLOTS = 1_024;
/** 2^32 divided by the golden ratio, made odd. Spreads neighbouring ids. */
const HASH_MULTIPLIER = 0x9e3779b1;

interface IdCount {
  id: number;
  count: number;
}

/**
 * Counts per id: columns of numbers instead of a Map, since a window of the chain has hundreds of thousands of wallets.
 */
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

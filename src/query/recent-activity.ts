/**
 * The tokens and wallets with most transfers in the last blocks. Caches the counts of the last request, so that the
 * next one reads only the transfers that entered and left the window.
 */
import type { BlockRef } from '../model/block.ts';
import { prepareLastBlock } from '../store/chain.ts';
import type { Db } from '../store/open-database.ts';
import { ZERO_WALLET } from '../store/schema.ts';
import { type IdRange, prepareLastIdsAt } from './blocks.ts';
import { type IdCount, IdCounts } from './id-counts.ts';
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

type Row = [sender: number, receiver: number, token: number | null];

/** The `limit` most active within a range of ids that ends at the head; of equal ones the one seen earlier first. */
export function prepareRecentActivity(
  db: Db,
): (range: IdRange, limit: number, budget: WorkBudget) => RecentActivity {
  const rows = db
    .prepare<[number, number], Row>(
      'SELECT sender, receiver, token FROM transfers WHERE id >= +? AND id < +?',
    )
    .raw();
  const lastBlock = prepareLastBlock(db);
  const lastIdsAt = prepareLastIdsAt(db);
  let kept: Window | null = null;

  const count = (window: Window, { from, below }: IdRange, sign: 1 | -1, budget: WorkBudget): void => {
    for (let at = from; at < below; at += ROWS_PER_READ) {
      budget.spend(Math.min(ROWS_PER_READ, below - at));
      for (const [sender, receiver, token] of rows.all(at, Math.min(below, at + ROWS_PER_READ))) {
        if (sender !== ZERO_WALLET) window.wallets.add(sender, sign);
        if (receiver !== ZERO_WALLET && receiver !== sender) window.wallets.add(receiver, sign);
        if (token !== null) window.tokens.add(token, sign);
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

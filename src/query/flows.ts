/** Who a wallet dealt with, summed over its activity. */
import { ACTIVITY_RUN, ActivityCursor, Flag } from '../store/activity.ts';
import type { Db } from '../store/open.ts';
import { ZERO_WALLET } from '../store/schema.ts';
import { isNative } from '../types.ts';
import { activityRuns, activitySize } from './activity.ts';
import type { IdRange } from './blocks.ts';
import type { Effort } from './effort.ts';
import { Ranking } from './ranking.ts';
import { Tally, type TallyRow } from './tally.ts';

const EVER: IdRange = { from: 1, below: Number.MAX_SAFE_INTEGER };

/**
 * The others that a wallet has most transfers with, most first, of equal ones the latest. Left out are the wallet
 * itself, the zero address, and token transfers of amount zero, which make nobody a counterparty. Its entries are
 * read twice: to rank all others by the least there is to keep of each, and to sum up those that rank first.
 */
export function counterparties(db: Db): (wallet: number, limit: number, effort: Effort) => TallyRow[] {
  const readRuns = activityRuns(db);
  const sizeOf = activitySize(db);
  const cursor = new ActivityCursor();
  const others = new Int32Array(ACTIVITY_RUN);
  const transfers = new Float64Array(ACTIVITY_RUN);
  return (wallet, limit, effort) => {
    effort.expect(2 * sizeOf(wallet, EVER));
    const ranking = new Ranking();
    for (const run of readRuns(wallet, EVER, effort)) {
      cursor.open(run);
      let count = 0;
      while (cursor.next()) {
        const { flags, other } = cursor;
        if (other === wallet || other === ZERO_WALLET || (flags & Flag.zero) !== 0) continue;
        others[count] = other;
        transfers[count++] = cursor.transfer;
      }
      ranking.add(others, transfers, count);
    }
    const tally = new Tally();
    for (const other of ranking.top(limit)) tally.begin(other);
    for (const run of readRuns(wallet, EVER, effort)) {
      cursor.open(run);
      while (cursor.next()) {
        const { flags } = cursor;
        if ((flags & Flag.zero) !== 0) continue;
        tally.rowOf(cursor.other)?.add(cursor, (flags & Flag.out) !== 0);
      }
    }
    return tally.list();
  };
}

/**
 * Whom a wallet sent native coins to within a range, the latest first. The zero address funds nobody, and nobody
 * himself. Once `limit` others are known, older ones are passed over.
 */
export function fundedWallets(
  db: Db,
): (wallet: number, range: IdRange, limit: number, effort: Effort) => TallyRow[] {
  const readRuns = activityRuns(db);
  const sizeOf = activitySize(db);
  const cursor = new ActivityCursor();
  return (wallet, range, limit, effort) => {
    if (wallet === ZERO_WALLET) return [];
    effort.expect(sizeOf(wallet, range));
    const tally = new Tally();
    for (const run of readRuns(wallet, range, effort)) {
      if (tally.size < limit) {
        const inOrder: number[] = [];
        cursor.open(run);
        while (cursor.next()) if (isFunding(cursor, wallet, range)) inOrder.push(cursor.other);
        for (const other of inOrder.reverse()) if (tally.size < limit) tally.begin(other);
      }
      cursor.open(run);
      while (cursor.next()) {
        if (isFunding(cursor, wallet, range)) tally.rowOf(cursor.other)?.add(cursor, true);
      }
    }
    return tally.list();
  };
}

function isFunding({ transfer, flags, other }: ActivityCursor, wallet: number, range: IdRange): boolean {
  if ((flags & Flag.out) === 0 || !isNative(flags & Flag.kindMask) || other === wallet) return false;
  return transfer >= range.from && transfer < range.below;
}

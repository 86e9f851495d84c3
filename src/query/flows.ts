/** Who a wallet dealt with, summed over its activity. */
import { ActivityCursor, Flag } from '../store/activity.ts';
import type { Db } from '../store/open.ts';
import { ZERO_WALLET } from '../store/schema.ts';
import { Kind } from '../types.ts';
import { activityRuns, activitySize } from './activity.ts';
import type { IdRange } from './blocks.ts';
import type { Effort } from './effort.ts';
import { Tally } from './tally.ts';

const EVER: IdRange = { from: 1, below: Number.MAX_SAFE_INTEGER };

/**
 * The wallet's transfers with each other wallet. Left out are those with itself, with the zero address, and token
 * transfers of amount zero, which make nobody a counterparty.
 */
export function counterparties(db: Db): (wallet: number, effort: Effort) => Tally {
  const readRuns = activityRuns(db);
  const sizeOf = activitySize(db);
  const cursor = new ActivityCursor();
  return (wallet, effort) => {
    effort.expect(sizeOf(wallet, EVER));
    const tally = new Tally();
    for (const run of readRuns(wallet, EVER, effort)) {
      cursor.open(run);
      while (cursor.next()) {
        const { flags, other } = cursor;
        if (other !== wallet && other !== ZERO_WALLET && (flags & Flag.zero) === 0) {
          tally.add(cursor, (flags & Flag.out) !== 0);
        }
      }
    }
    return tally;
  };
}

/** The native transfers within a range that fund another wallet: the zero address funds nobody, and nobody himself. */
export function fundedWallets(db: Db): (wallet: number, range: IdRange, effort: Effort) => Tally {
  const readRuns = activityRuns(db);
  const sizeOf = activitySize(db);
  const cursor = new ActivityCursor();
  return (wallet, range, effort) => {
    const tally = new Tally();
    if (wallet === ZERO_WALLET) return tally;
    effort.expect(sizeOf(wallet, range));
    for (const run of readRuns(wallet, range, effort)) {
      cursor.open(run);
      while (cursor.next() && cursor.transfer < range.below) {
        if (cursor.transfer >= range.from && isFunding(cursor, wallet)) tally.add(cursor, true);
      }
    }
    return tally;
  };
}

function isFunding({ flags, other }: ActivityCursor, wallet: number): boolean {
  const kind = flags & Flag.kindMask;
  const native = kind === Kind.nativeDirect || kind === Kind.nativeInternal;
  return native && (flags & Flag.out) !== 0 && other !== wallet;
}

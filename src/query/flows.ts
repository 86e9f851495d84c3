/** The counterparties of a wallet, summed over its activity. */
import { ACTIVITY_RUN, type ActivityCursor, Flag } from '../store/activity.ts';
import type { Db } from '../store/open.ts';
import { ZERO_WALLET } from '../store/schema.ts';
import { isNative } from '../types.ts';
import { activityRuns, activitySize } from './activity.ts';
import type { IdRange } from './blocks.ts';
import { type Dealing, Dealings } from './dealings.ts';
import type { Effort } from './effort.ts';
import { KeptDealings } from './kept-dealings.ts';
import { Tally, type TallyRow } from './tally.ts';

const EVER: IdRange = { from: 1, below: Number.MAX_SAFE_INTEGER };

/**
 * Dealings over fewer entries than this are summed anew each time. It is more than the event loop does itself
 * (api/api.ts), so only the read threads keep any.
 */
const WORTH_KEEPING = 160 * ACTIVITY_RUN;

/**
 * The wallets with which a wallet has most transfers, most first; of equal ones the latest first. Excludes the wallet
 * itself, the zero address, and token transfers of amount zero, which make nobody a counterparty.
 */
export function counterparties(db: Db): (wallet: number, limit: number, effort: Effort) => Dealing[] {
  const readRuns = activityRuns(db);
  const sizeOf = activitySize(db);
  const kept = new KeptDealings(db);
  const small = new Dealings();

  const addAll = (dealings: Dealings, wallet: number, range: IdRange, effort: Effort): void => {
    for (const cursor of readRuns(wallet, range, effort)) {
      while (cursor.next()) {
        if (cursor.transfer >= range.from && isDealing(cursor, wallet)) dealings.add(cursor, isOut(cursor));
      }
    }
  };

  return (wallet, limit, effort) => {
    const begun = kept.find(wallet);
    const range = { ...EVER, from: begun?.from ?? EVER.from };
    const size = sizeOf(wallet, range);
    effort.expect(size);
    if (begun === undefined && size < WORTH_KEEPING) {
      small.clear();
      addAll(small, wallet, range, effort);
      return small.first(limit);
    }
    const dealings = begun?.dealings ?? new Dealings();
    kept.take(wallet);
    addAll(dealings, wallet, range, effort);
    kept.keep(wallet, dealings);
    return dealings.first(limit);
  };
}

/**
 * The wallets to which a wallet sent native coins within a range, latest first. The zero address funds nobody, and no
 * wallet funds itself. Once `limit` wallets are found, older ones are ignored.
 */
export function fundedWallets(
  db: Db,
): (wallet: number, range: IdRange, limit: number, effort: Effort) => TallyRow[] {
  const readRuns = activityRuns(db);
  const sizeOf = activitySize(db);
  return (wallet, range, limit, effort) => {
    if (wallet === ZERO_WALLET) return [];
    effort.expect(sizeOf(wallet, range));
    const tally = new Tally(limit);
    const isWanted = (entry: ActivityCursor) => isFunding(entry, wallet, range);
    for (const cursor of readRuns(wallet, range, effort)) {
      if (!tally.isFull) {
        beginLatest(tally, cursor, isWanted);
        cursor.rewind();
      }
      while (cursor.next()) {
        if (isFunding(cursor, wallet, range)) tally.rowOf(cursor.other)?.add(cursor);
      }
    }
    return tally.list();
  };
}

/** Adds rows for the other wallets of wanted entries, newest first, while there is room. */
function beginLatest(
  tally: Tally,
  cursor: ActivityCursor,
  isWanted: (entry: ActivityCursor) => boolean,
): void {
  const oldestFirst: number[] = [];
  while (cursor.next()) if (isWanted(cursor)) oldestFirst.push(cursor.other);
  for (const other of oldestFirst.reverse()) if (!tally.isFull) tally.begin(other);
}

function isDealing({ flags, other }: ActivityCursor, wallet: number): boolean {
  return other !== wallet && other !== ZERO_WALLET && (flags & Flag.zero) === 0;
}

function isFunding({ transfer, flags, other }: ActivityCursor, wallet: number, range: IdRange): boolean {
  if ((flags & Flag.out) === 0 || !isNative(flags & Flag.kindMask) || other === wallet) return false;
  return transfer >= range.from && transfer < range.below;
}

function isOut({ flags }: ActivityCursor): boolean {
  return (flags & Flag.out) !== 0;
}

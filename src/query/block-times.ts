/** Blocks by time, and the growth of the chain. */
import { prepareGrowthBase, prepareLastBlockUpTo } from '../store/block-times.ts';
import type { Db } from '../store/open-database.ts';
import type { Head } from './snapshot.ts';

type TimedHead = Pick<Head, 'startBlock' | 'number' | 'timestamp'>;

/** A range of time, Unix seconds; either end may be open. */
interface TimeRange {
  since?: number | undefined;
  until?: number | undefined;
}

/** The indexed blocks with timestamps in a range, both ends included; `first` above `last` for none. */
export function prepareBlocksInTime(
  db: Db,
): (head: Head, range: TimeRange) => { first: number; last: number } {
  const lastBlockUpTo = prepareLastBlockUpTo(db);
  return (head, { since, until }) => ({
    first: since === undefined ? head.startBlock : lastBlockUpTo(head, Math.ceil(since) - 1) + 1,
    last: until === undefined ? head.number : lastBlockUpTo(head, Math.floor(until)),
  });
}

interface ChainRates {
  transfers: number;
  transactions: number;
  newWallets: number;
}

/**
 * Growth per minute over the last `seconds` before the head's timestamp, or over the whole index if shorter. All zero
 * while the index spans no time.
 */
export function prepareChainRates(db: Db): (head: TimedHead, seconds: number) => ChainRates {
  // The running totals of `blocks` up to and including a block.
  const statement = db.prepare<[number], ChainRates>(/* sql */ `
    SELECT last_transfer AS transfers, transactions, last_wallet AS newWallets
    FROM blocks WHERE number = +?`);
  const growthBase = prepareGrowthBase(db);
  return (head, windowSeconds) => {
    const { block, seconds } = growthBase(head, windowSeconds);
    const last = statement.get(head.number);
    const first = statement.get(block);
    if (last === undefined || first === undefined || seconds <= 0) {
      return { transfers: 0, transactions: 0, newWallets: 0 };
    }
    const rate = (name: keyof ChainRates) =>
      Math.round(((last[name] - first[name]) / (seconds / 60)) * 100) / 100;
    return {
      transfers: rate('transfers'),
      transactions: rate('transactions'),
      newWallets: rate('newWallets'),
    };
  };
}

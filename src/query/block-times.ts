/** Blocks by time, and the growth of the chain. */
import type { Db } from '../store/open-database.ts';
import type { Head } from './snapshot.ts';

/**
 * The last indexed block with a timestamp of at most `time`, Unix seconds; the block before the first one if there is
 * none. Timestamps never decrease along the chain.
 */
export function prepareLastBlockUpTo(db: Db): (head: Head, time: number) => number {
  const timeOf = db.prepare<[number], number>('SELECT timestamp FROM blocks WHERE number = +?').pluck();
  return ({ number, startBlock }, time) => {
    let [low, high] = [startBlock - 1, number];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((timeOf.get(middle) ?? 0) <= time) low = middle;
      else high = middle - 1;
    }
    return low;
  };
}

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

/** The running totals of `blocks` up to and including a block. */
interface BlockTotals extends ChainRates {
  /** Unix seconds. */
  timestamp: number;
}

/**
 * Growth per minute over the last `seconds` before the head's timestamp, or over the whole index if shorter. All zero
 * while the index spans no time.
 */
export function prepareChainRates(db: Db): (head: Head, seconds: number) => ChainRates {
  const statement = db.prepare<[number], BlockTotals>(/* sql */ `
    SELECT timestamp, last_transfer AS transfers, transactions, last_wallet AS newWallets
    FROM blocks WHERE number = +?`);
  const lastBlockUpTo = prepareLastBlockUpTo(db);
  return (head, seconds) => {
    const last = statement.get(head.number);
    const base = Math.max(head.startBlock, lastBlockUpTo(head, head.timestamp - seconds));
    const first = statement.get(base);
    if (last === undefined || first === undefined || last.timestamp <= first.timestamp) {
      return { transfers: 0, transactions: 0, newWallets: 0 };
    }
    const minutes = (last.timestamp - first.timestamp) / 60;
    const rate = (name: keyof ChainRates) => Math.round(((last[name] - first[name]) / minutes) * 100) / 100;
    return {
      transfers: rate('transfers'),
      transactions: rate('transactions'),
      newWallets: rate('newWallets'),
    };
  };
}

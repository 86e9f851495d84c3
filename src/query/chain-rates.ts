/** How fast the chain grows, from the running totals in `blocks`. */
import type { Db } from '../store/open-database.ts';
import { prepareLastBlockUpTo } from './block-times.ts';
import type { Head } from './snapshot.ts';

export interface ChainRates {
  transfers: number;
  transactions: number;
  newWallets: number;
}

/** Totals up to and including a block. */
interface BlockTotals extends ChainRates {
  /** Unix seconds. */
  timestamp: number;
}

/**
 * What was added per minute over the last `seconds` before the head's timestamp, or over the whole index if it is
 * shorter. All zero while it holds no time at all.
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

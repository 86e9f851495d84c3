/** Blocks by time. */
import type { Db } from '../store/open-database.ts';
import type { Head } from './snapshot.ts';

/**
 * The last indexed block that is not younger than `time`, Unix seconds; the one before the first block if all are.
 * Timestamps never decrease along the chain.
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

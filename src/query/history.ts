/** A wallet's transfers in the packed lists of store/activity.ts, oldest first, for replays. */
import { ActivityCursor } from '../store/activity.ts';
import type { Db } from '../store/open-database.ts';
import { prepareRecentRun } from './activity.ts';

/** Finished runs read at a time. */
const RUNS_PER_READ = 4;

/**
 * Reads a wallet's next transfers: ids `from <= id < below` of a few runs, oldest first. An empty list means that there
 * are no more.
 */
export function prepareWalletHistory(db: Db): (wallet: number, from: number, below: number) => number[] {
  const runsFrom = db
    .prepare<[number, number, number, number], Buffer>(/* sql */ `
      SELECT entries FROM activity WHERE wallet = +? AND first_transfer >= coalesce(
        (SELECT first_transfer FROM activity WHERE wallet = +? AND first_transfer <= +?
          ORDER BY first_transfer DESC LIMIT 1), 0)
      ORDER BY first_transfer LIMIT +?`)
    .pluck();
  const recentOf = prepareRecentRun(db);
  const cursor = new ActivityCursor();

  const collect = (ids: number[], from: number, below: number): void => {
    while (cursor.next() && cursor.transfer < below) if (cursor.transfer >= from) ids.push(cursor.transfer);
  };

  return (wallet, from, below) => {
    const ids: number[] = [];
    const found = recentOf(wallet);
    if (found === undefined) return ids;
    const { recent, base } = found;
    const runs = runsFrom.all(wallet, wallet, from, RUNS_PER_READ);
    for (const run of runs) {
      cursor.open(run, base);
      collect(ids, from, below);
    }
    // The unfinished run comes after the last finished one; a single finished run may lie entirely before `from`.
    if (runs.length === RUNS_PER_READ) return ids;
    cursor.open(recent, base);
    collect(ids, from, below);
    return ids;
  };
}

/** The transfers of several wallets as one list: ids ascending, each once. */

/** Reads a wallet's next transfers: some ids `from <= id < below`, ascending; empty at the end. */
export type ReadHistory = (wallet: number, from: number, below: number) => number[];

/** Wallets read between two chances to pause. */
const WALLETS_PER_STEP = 50;

interface HistoryCursor {
  wallet: number;
  /** Read but not yet yielded. */
  ids: number[];
  /** First id not yet read; `below` at the end. */
  next: number;
}

/** Yields the ids in pieces, with empty pieces as chances to pause. */
export function* mergeHistories(
  read: ReadHistory,
  wallets: readonly number[],
  from: number,
  below: number,
): Generator<number[], void, void> {
  const cursors = wallets.map((wallet): HistoryCursor => ({ wallet, ids: [], next: from }));
  for (let completeBelow = from; completeBelow < below; ) {
    let reads = 0;
    for (const cursor of cursors) {
      if (cursor.ids.length > 0 || cursor.next >= below) continue;
      cursor.ids = read(cursor.wallet, cursor.next, below);
      cursor.next = cursor.ids.length === 0 ? below : cursor.ids.at(-1)! + 1;
      if (++reads % WALLETS_PER_STEP === 0) yield [];
    }
    // Below this id every wallet's transfers have been read.
    completeBelow = cursors.reduce((least, { next }) => Math.min(least, next), below);
    yield takeBelow(cursors, completeBelow);
  }
}

function takeBelow(cursors: readonly HistoryCursor[], limit: number): number[] {
  const taken = new Set<number>();
  for (const cursor of cursors) {
    const end = cursor.ids.findIndex((id) => id >= limit);
    for (const id of end < 0 ? cursor.ids.splice(0) : cursor.ids.splice(0, end)) taken.add(id);
  }
  return [...taken].sort((a, b) => a - b);
}

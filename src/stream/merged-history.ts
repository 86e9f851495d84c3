/** The transfers of several wallets as one list: ids ascending, each once. */

/** Reads on through one wallet's transfers: ids `from <= id < below`, ascending, some at a time; empty at the end. */
export type ReadHistory = (wallet: number, from: number, below: number) => number[];

/** Wallets read between two chances to pause. */
const WALLETS_PER_STEP = 50;

interface Reading {
  wallet: number;
  /** Read and not yet given out. */
  ids: number[];
  /** First id that was not read yet; `below` at the end. */
  next: number;
}

/** Yields the ids in pieces, and empty pieces where it makes sense to pause. */
export function* mergedHistory(
  read: ReadHistory,
  wallets: readonly number[],
  from: number,
  below: number,
): Generator<number[], void, void> {
  const readings = wallets.map((wallet): Reading => ({ wallet, ids: [], next: from }));
  for (let safe = from; safe < below; ) {
    let reads = 0;
    for (const reading of readings) {
      if (reading.ids.length > 0 || reading.next >= below) continue;
      reading.ids = read(reading.wallet, reading.next, below);
      reading.next = reading.ids.length === 0 ? below : reading.ids.at(-1)! + 1;
      if (++reads % WALLETS_PER_STEP === 0) yield [];
    }
    // Up to here every wallet's transfers are known.
    safe = readings.reduce((least, { next }) => Math.min(least, next), below);
    yield takeBelow(readings, safe);
  }
}

function takeBelow(readings: readonly Reading[], limit: number): number[] {
  const taken = new Set<number>();
  for (const reading of readings) {
    const end = reading.ids.findIndex((id) => id >= limit);
    for (const id of end < 0 ? reading.ids.splice(0) : reading.ids.splice(0, end)) taken.add(id);
  }
  return [...taken].sort((a, b) => a - b);
}

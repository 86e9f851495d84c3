/** The transfers of several wallets as one list: ids ascending, each once. */

/** Reads a wallet's next transfers: some ids `from <= id < below`, ascending; empty at the end. */
export type ReadHistory = (wallet: number, from: number, below: number) => number[];

/** Wallets read between two chances to pause. */
const WALLETS_PER_STEP = 50;

interface Reading {
  wallet: number;
  /** Read but not yet yielded. */
  ids: number[];
  /** First id not yet read; `below` at the end. */
  next: number;
}

/** Yields the ids in pieces, with empty pieces as chances to pause. */
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
    // Below this id every wallet's transfers have been read.
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

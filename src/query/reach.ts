/**
 * The transfers of a rare wallet or token are on a page of the file each, and a page that is not cached takes 0.1 ms.
 * So a reading of transfers also ends after so many stretches of the chain, each about a page.
 */
const STRETCH = 128;

/** Bounds of a reading of a history. */
export interface ReadingBounds {
  /** Entries of the history; of a token's, also transfers of its transactions that may hold trades. */
  transfers: number;
  stretches: number;
}

/** Most transfers of a history that an answer reads; a transaction is read to its end. */
export const MAX_HISTORY_ROWS = 100_000;

/** Of an answer that ends where its reading does: some 200 ms of pages that are not cached. */
export const READING_BOUNDS: ReadingBounds = { transfers: MAX_HISTORY_ROWS, stretches: 2_048 };

/** Of a page of an answer, whose cursor leads on. */
export const PAGE_STRETCHES = 1_024;

/** Where a reading ended at its bounds: the first transfer of its oldest transaction; null at the end of the range. */
export type ReadFrom = number | null;

/** How many stretches of the chain a reading may still reach. */
export class Reach {
  private left: number;
  private stretch = -1;
  isEnded = false;

  constructor(stretches: number) {
    this.left = stretches;
  }

  /** As many of these transfers, in the order of the chain or against it, as are in reach. */
  within(ids: readonly number[]): readonly number[] {
    for (let i = 0; i < ids.length; i++) {
      const stretch = Math.floor(ids[i]! / STRETCH);
      if (stretch === this.stretch) continue;
      if (this.left === 0) {
        this.isEnded = true;
        return ids.slice(0, i);
      }
      this.stretch = stretch;
      this.left--;
    }
    return ids;
  }
}

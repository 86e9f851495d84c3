/** Reads a wallet's history within its bounds, from the pages alone: which rows are read is up to the reader. */
import type { Db } from '../store/open-database.ts';
import { ENTRIES_PER_PAGE, HistoryFlag } from '../store/wallet-history.ts';
import type { IdRange } from './blocks.ts';
import { MAX_HISTORY_ROWS, Reach } from './reach.ts';
import { prepareHistoryPages } from './wallet-history-pages.ts';
import type { WorkBudget } from './work-budget.ts';

/** An entry of a wallet's history. */
export interface HistoryEntry {
  /** transfers.id */
  id: number;
  /** HistoryFlag */
  flags: number;
  /** wallets.id of the other side. */
  other: number;
  /** Of a native transfer, where its wei are. */
  bytes: Uint8Array;
  amountStart: number;
  amountEnd: number;
}

/** Whether an entry is outgoing (-1) or incoming (1); 0 where it moves nothing. */
export function directionOf({ flags }: HistoryEntry): -1 | 0 | 1 {
  const sides = flags & (HistoryFlag.in | HistoryFlag.out | HistoryFlag.zero);
  if (sides === HistoryFlag.in) return 1;
  return sides === HistoryFlag.out ? -1 : 0;
}

/** How far back a reading goes. A reader may end it early. */
export class HistoryEnd {
  /** The first transfer of the oldest transaction that is read; null while the whole range is. */
  readFrom: number | null = null;
  private readonly firstOf: (transfer: number) => number;
  private readonly reach: Reach;
  private oldest = Number.MAX_SAFE_INTEGER;

  /** `stretches`: how many the transfers given to `within` may lie in. */
  constructor(firstOf: (transfer: number) => number, stretches = Number.POSITIVE_INFINITY) {
    this.firstOf = firstOf;
    this.reach = new Reach(stretches);
  }

  /** Ends the reading with the transaction of a transfer, which is read whole. */
  endAt(transfer: number): void {
    this.readFrom = this.firstOf(transfer);
  }

  /**
   * Ends the reading with the last of these transfers that is in reach. They are oldest first, and older than those
   * before. Returns the first transfer to read.
   */
  within(transfers: readonly number[]): number {
    if (this.readFrom === null) {
      const reached = this.reach.within(transfers.toReversed());
      if (this.reach.isEnded) this.endAt(reached.at(-1) ?? this.oldest);
      this.oldest = transfers[0] ?? this.oldest;
    }
    return this.readFrom ?? 0;
  }
}

/** The end of a list, whose pages may end within a transaction. */
export function listEnd(stretches?: number): HistoryEnd {
  return new HistoryEnd((transfer) => transfer, stretches);
}

/** The first transfer of the transaction of a transfer. */
export function prepareFirstOfTransaction(db: Db): (transfer: number) => number {
  const statement = db
    .prepare<[number], number>("SELECT iif(typeof(tx) = 'blob', id, id - tx) FROM transfers WHERE id = +?")
    .pluck();
  return (transfer) => statement.get(transfer) ?? transfer;
}

/**
 * Most entries that are given out at once. Their rows are then read forwards over a longer part of the file, where the
 * system reads ahead. The first are few, as most readings end soon.
 */
const FIRST_ENTRIES = ENTRIES_PER_PAGE;
const MOST_ENTRIES = 16 * ENTRIES_PER_PAGE;

/**
 * The entries of a wallet within a range of whole transactions, in pieces from the newest one; those of a piece are
 * oldest first. After `most` entries the reading ends with the transaction of the last one.
 */
export function prepareHistoryReading(
  db: Db,
  most = MAX_HISTORY_ROWS,
): (wallet: number, range: IdRange, end: HistoryEnd, budget: WorkBudget) => Generator<HistoryEntry[]> {
  const readPages = prepareHistoryPages(db);
  return function* (wallet, { from, below }, end, budget) {
    let left = most;
    let size = FIRST_ENTRIES;
    let piece: HistoryEntry[] = [];
    const take = (): HistoryEntry[] => {
      const first = end.readFrom ?? from;
      const taken = (piece[0]?.id ?? first) < first ? piece.filter(({ id }) => id >= first) : piece;
      piece = [];
      size = Math.min(2 * size, MOST_ENTRIES);
      return taken;
    };
    for (const page of readPages(wallet, { from, below }, budget)) {
      const lowest = end.readFrom ?? from;
      const entries: HistoryEntry[] = [];
      let oldest = 0;
      while (page.next() && page.transfer < below) {
        const { transfer: id, flags, counterparty: other, bytes, amountStart, amountEnd } = page;
        if (oldest === 0) oldest = id;
        if (id >= lowest) entries.push({ id, flags, other, bytes, amountStart, amountEnd });
      }
      if (end.readFrom === null && entries.length >= left) end.endAt(entries[entries.length - left]!.id);
      left -= entries.length;
      piece = entries.concat(piece);
      if (piece.length >= size) yield take();
      if (end.readFrom !== null && oldest <= end.readFrom) break;
    }
    if (piece.length > 0) yield take();
  };
}

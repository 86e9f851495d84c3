/** Sums of a wallet's transfers with a few others. */
import type { ActivityCursor } from '../store/activity.ts';
import { WeiSums } from './wei-sums.ts';

/** Rows of the sums of wei. */
const IN = 0;
const OUT = 1;

/** What one wallet shares with the wallet of the activity. */
export interface TallyRow {
  /** wallets.id of the other side. */
  other: number;
  inCount: number;
  outCount: number;
  inWei: bigint;
  outWei: bigint;
  /** transfers.id of the first and the last that was counted. */
  first: number;
  last: number;
}

/** Most others are not among the few: a look at one byte by the low bits of their id tells so for nearly all. */
const FILTER_BYTES = 4096;

/** Rows by the other wallet, in the order in which they were begun. */
export class Tally {
  private readonly rows = new Map<number, Row>();
  private readonly filter = new Uint8Array(FILTER_BYTES);
  private readonly limit: number;

  /** Has room for `limit` rows. */
  constructor(limit: number) {
    this.limit = limit;
  }

  get isFull(): boolean {
    return this.rows.size >= this.limit;
  }

  /** Begins a row unless there is one. */
  begin(other: number): void {
    if (this.rows.has(other)) return;
    this.rows.set(other, new Row());
    this.filter[other % FILTER_BYTES] = 1;
  }

  rowOf(other: number): Row | undefined {
    return this.filter[other % FILTER_BYTES] === 0 ? undefined : this.rows.get(other);
  }

  list(): TallyRow[] {
    return [...this.rows].map(([other, row]) => ({
      other,
      inCount: row.inCount,
      outCount: row.outCount,
      inWei: row.inWei,
      outWei: row.outWei,
      first: row.first,
      last: row.last,
    }));
  }
}

class Row {
  first = Number.POSITIVE_INFINITY;
  last = 0;
  inCount = 0;
  outCount = 0;
  private readonly wei = new WeiSums(2);

  /** Counts the entry at the cursor; `out` is its direction. Entries may come in any order. */
  add(cursor: ActivityCursor, out: boolean): void {
    const { transfer } = cursor;
    if (transfer < this.first) this.first = transfer;
    if (transfer > this.last) this.last = transfer;
    if (out) this.outCount++;
    else this.inCount++;
    this.wei.add(out ? OUT : IN, cursor);
  }

  get inWei(): bigint {
    return this.wei.sum(IN);
  }

  get outWei(): bigint {
    return this.wei.sum(OUT);
  }
}

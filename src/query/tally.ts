/**
 * Sums of a wallet's transfers with a few others. Sums of wei are kept in limbs of 32 bits that doubles hold exactly:
 * big integers would cost ten times as much per entry.
 */
import { bytesToBigInt } from '../lib/hex.ts';
import type { ActivityCursor } from '../store/activity.ts';

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
      inCount: row.in.count,
      outCount: row.out.count,
      inWei: row.in.wei(),
      outWei: row.out.wei(),
      first: row.first,
      last: row.last,
    }));
  }
}

class Row {
  first = Number.POSITIVE_INFINITY;
  last = 0;
  readonly in = new Side();
  readonly out = new Side();

  /** Counts the entry at the cursor; `out` is its direction. Entries may come in any order. */
  add(cursor: ActivityCursor, out: boolean): void {
    const { transfer } = cursor;
    if (transfer < this.first) this.first = transfer;
    if (transfer > this.last) this.last = transfer;
    (out ? this.out : this.in).add(cursor);
  }
}

const LIMBS = 3;
/** Wei of up to so many bytes are added limb by limb; longer ones, which no real chain has, as big integers. */
const LIMBED_BYTES = 4 * LIMBS;
/** A limb that reaches this is carried over: one more addition stays below 2^53. */
const CARRY_AT = 2 ** 52;

/** Transfers in one direction. */
class Side {
  count = 0;
  private readonly limbs = new Float64Array(LIMBS);
  private beyond = 0n;

  add({ bytes, amountStart, amountEnd }: ActivityCursor): void {
    this.count++;
    if (amountEnd - amountStart > LIMBED_BYTES) {
      this.beyond += bytesToBigInt(bytes.subarray(amountStart, amountEnd));
      return;
    }
    for (let end = amountEnd, limb = 0; end > amountStart; end -= 4, limb++) {
      let value = 0;
      for (let at = Math.max(amountStart, end - 4); at < end; at++) value = value * 256 + bytes[at]!;
      const sum = this.limbs[limb]! + value;
      this.limbs[limb] = sum;
      if (sum >= CARRY_AT) this.carry();
    }
  }

  wei(): bigint {
    const [low = 0, middle = 0, high = 0] = this.limbs;
    return this.beyond + BigInt(low) + (BigInt(middle) << 32n) + (BigInt(high) << 64n);
  }

  private carry(): void {
    this.beyond = this.wei();
    this.limbs.fill(0);
  }
}

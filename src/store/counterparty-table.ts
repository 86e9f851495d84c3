/**
 * A wallet's transfers with each other wallet, summed entry by entry. A hot wallet has millions of entries with
 * hundreds of thousands of counterparties, where memory latency dominates: hence columns of numbers instead of objects.
 * Sums can be extended, so that a repeated request for a wallet reads only its new entries.
 */

import { bytesToBigInt } from '../lib/hex.ts';
import { type HistoryCursor, HistoryFlag } from './wallet-history.ts';

/** Initial number of slots; always a power of two. */
const INITIAL_SLOTS = 2048;
/** Rows per slot: the highest fraction of slots in use. */
const MAX_LOAD_FACTOR = 0.5;
/** 2^32 divided by the golden ratio, made odd. Spreads neighbouring ids. */
const HASH_MULTIPLIER = 0x9e3779b1;

/** The summed transfers between a wallet and one counterparty. */
export interface CounterpartyTotals {
  /** wallets.id of the counterparty. */
  counterparty: number;
  inCount: number;
  outCount: number;
  inWei: bigint;
  outWei: bigint;
  /** transfers.id of the newest transfer. */
  lastTransfer: number;
  /** How many of `outCount` are native, and the transfers.id of the first and the newest of those; 0 without any. */
  sentCount: number;
  firstSent: number;
  lastSent: number;
}

/**
 * A position in the list of a wallet's counterparties: a transfer count, and the id of the newest of those transfers.
 */
export interface CounterpartyPlace {
  count: number;
  last: number;
}

/** The position before every counterparty. */
export const FIRST_PLACE: CounterpartyPlace = { count: Number.POSITIVE_INFINITY, last: 0 };

/** Whether a counterparty with this count and newest transfer comes after a position. */
export function isAfter(count: number, last: number, place: CounterpartyPlace): boolean {
  return count < place.count || (count === place.count && last < place.last);
}

export class CounterpartyTable {
  /** Per slot the row of its counterparty plus one, 0 for an empty slot. */
  private slots = new Int32Array(INITIAL_SLOTS);
  private used = 0;
  private counterparties = new Int32Array(INITIAL_SLOTS * MAX_LOAD_FACTOR);
  /** Counts of transfers in and out, alternating. */
  private counts = new Int32Array(INITIAL_SLOTS * MAX_LOAD_FACTOR * 2);
  /** Index of the sum of their wei plus one; 0, the usual case, when there is none. */
  private sums = new Int32Array(INITIAL_SLOTS * MAX_LOAD_FACTOR * 2);
  private lasts = new Float64Array(INITIAL_SLOTS * MAX_LOAD_FACTOR);
  private readonly wei = new WeiSums(INITIAL_SLOTS * MAX_LOAD_FACTOR);
  private readonly entries = new SummedEntries(INITIAL_SLOTS * MAX_LOAD_FACTOR);
  private summed = 0;

  /** Memory used, bytes. */
  get bytes(): number {
    const { slots, counterparties, counts, sums, lasts, wei, entries } = this;
    const columns = [slots, counterparties, counts, sums, lasts];
    return columns.reduce((bytes, { byteLength }) => bytes + byteLength, wei.bytes + entries.bytes);
  }

  /** Counts the current entry. Entries may come in any order; ids are below 2^31. */
  add(cursor: HistoryCursor): void {
    const side = this.addWei(cursor);
    this.counts[side]!++;
  }

  /**
   * Adds the wei of the entry at the cursor without counting it as a transfer with a counterparty. Returns its side.
   */
  addWei(cursor: HistoryCursor): number {
    const row = this.rowOf(cursor.counterparty);
    const side = row * 2 + ((cursor.flags & HistoryFlag.out) === 0 ? 0 : 1);
    if (cursor.transfer > this.lasts[row]!) this.lasts[row] = cursor.transfer;
    if (cursor.amountEnd > cursor.amountStart) {
      const sum = this.sumOf(side);
      this.wei.add(sum, cursor);
      this.entries.add(sum, cursor.transfer);
    }
    return side;
  }

  /**
   * The counterparties with most transfers after a position, in descending order. Of equal ones the latest comes first.
   */
  top(limit: number, after: CounterpartyPlace = FIRST_PLACE): CounterpartyTotals[] {
    const best: number[] = [];
    for (let row = 0; row < this.used; row++) {
      if (!isAfter(this.countOf(row), this.lasts[row]!, after)) continue;
      if (best.length === limit) {
        if (!this.isBefore(row, best[limit - 1]!)) continue;
        best.pop();
      }
      let rank = best.length;
      while (rank > 0 && this.isBefore(row, best[rank - 1]!)) rank--;
      best.splice(rank, 0, row);
    }
    return best.map((row) => this.totals(row));
  }

  /** Clears all rows but keeps the memory. */
  clear(): void {
    this.slots.fill(0);
    this.counts.fill(0, 0, this.used * 2);
    this.sums.fill(0, 0, this.used * 2);
    this.lasts.fill(0, 0, this.used);
    this.wei.clear(this.summed);
    this.entries.clear(this.summed);
    this.used = 0;
    this.summed = 0;
  }

  private isBefore(a: number, b: number): boolean {
    const difference = this.countOf(a) - this.countOf(b);
    return difference > 0 || (difference === 0 && this.lasts[a]! > this.lasts[b]!);
  }

  /** Number of counterparties. Their rows are 0 to `size` - 1. */
  get size(): number {
    return this.used;
  }

  /** The row of a counterparty, -1 when there is none. */
  find(counterparty: number): number {
    return this.slots[this.slotOf(counterparty)]! - 1;
  }

  counterpartyOf(row: number): number {
    return this.counterparties[row]!;
  }

  lastOf(row: number): number {
    return this.lasts[row]!;
  }

  /** All rows, ordered by counterparty. */
  rowsInOrder(): Uint32Array {
    const { counterparties } = this;
    return Uint32Array.from({ length: this.used }, (_, row) => row).sort(
      (a, b) => counterparties[a]! - counterparties[b]!,
    );
  }

  countOf(row: number): number {
    return this.counts[row * 2]! + this.counts[row * 2 + 1]!;
  }

  totals(row: number): CounterpartyTotals {
    const sent = this.sums[row * 2 + 1]!;
    return {
      counterparty: this.counterparties[row]!,
      inCount: this.counts[row * 2]!,
      outCount: this.counts[row * 2 + 1]!,
      inWei: this.weiOf(row * 2),
      outWei: this.weiOf(row * 2 + 1),
      lastTransfer: this.lasts[row]!,
      ...(sent === 0 ? NOTHING_SENT : this.entries.of(sent - 1)),
    };
  }

  private weiOf(side: number): bigint {
    const sum = this.sums[side]!;
    return sum === 0 ? 0n : this.wei.sum(sum - 1);
  }

  private sumOf(side: number): number {
    if (this.sums[side] === 0) {
      if (this.summed === this.wei.rows) {
        this.entries.grow(this.wei.rows * 2);
        this.wei.grow(this.wei.rows * 2);
      }
      this.sums[side] = ++this.summed;
    }
    return this.sums[side]! - 1;
  }

  private rowOf(counterparty: number): number {
    const at = this.slotOf(counterparty);
    const row = this.slots[at]! - 1;
    return row >= 0 ? row : this.addRow(counterparty, at);
  }

  private addRow(counterparty: number, at: number): number {
    if (this.used === this.counterparties.length) {
      this.grow();
      return this.addRow(counterparty, this.slotOf(counterparty));
    }
    const row = this.used++;
    this.slots[at] = row + 1;
    this.counterparties[row] = counterparty;
    return row;
  }

  /** The slot of a counterparty, or the empty slot where it would go. */
  private slotOf(counterparty: number): number {
    const { slots, counterparties } = this;
    const mask = slots.length - 1;
    let at = (Math.imul(counterparty, HASH_MULTIPLIER) >>> 8) & mask;
    while (slots[at] !== 0 && counterparties[slots[at]! - 1] !== counterparty) at = (at + 1) & mask;
    return at;
  }

  private grow(): void {
    const rows = this.counterparties.length * 2;
    this.counterparties = copyInto(new Int32Array(rows), this.counterparties);
    this.counts = copyInto(new Int32Array(rows * 2), this.counts);
    this.sums = copyInto(new Int32Array(rows * 2), this.sums);
    this.lasts = copyInto(new Float64Array(rows), this.lasts);
    this.slots = new Int32Array(rows / MAX_LOAD_FACTOR);
    for (let row = 0; row < this.used; row++) this.slots[this.slotOf(this.counterparties[row]!)] = row + 1;
  }
}

function copyInto<T extends Int32Array | Float64Array>(target: T, source: T): T {
  target.set(source);
  return target;
}

type Sent = Pick<CounterpartyTotals, 'sentCount' | 'firstSent' | 'lastSent'>;

const NOTHING_SENT: Sent = { sentCount: 0, firstSent: 0, lastSent: 0 };

/** The entries of each wei sum: their number, the first and the newest. */
class SummedEntries {
  private counts: Int32Array;
  private firsts: Float64Array;
  private lasts: Float64Array;

  constructor(rows: number) {
    this.counts = new Int32Array(rows);
    this.firsts = new Float64Array(rows);
    this.lasts = new Float64Array(rows);
  }

  get bytes(): number {
    return this.counts.byteLength + this.firsts.byteLength + this.lasts.byteLength;
  }

  grow(rows: number): void {
    this.counts = copyInto(new Int32Array(rows), this.counts);
    this.firsts = copyInto(new Float64Array(rows), this.firsts);
    this.lasts = copyInto(new Float64Array(rows), this.lasts);
  }

  clear(rows: number): void {
    this.counts.fill(0, 0, rows);
  }

  add(row: number, transfer: number): void {
    const isFirst = this.counts[row]!++ === 0;
    if (isFirst || transfer < this.firsts[row]!) this.firsts[row] = transfer;
    if (isFirst || transfer > this.lasts[row]!) this.lasts[row] = transfer;
  }

  of(row: number): Sent {
    return { sentCount: this.counts[row]!, firstSent: this.firsts[row]!, lastSent: this.lasts[row]! };
  }
}

const LIMBS = 3;
/** Amounts up to this length are added limb by limb; longer ones, which no real chain has, as bigints. */
const MAX_LIMB_BYTES = 4 * LIMBS;
/** A limb that reaches this value is carried, so that one more addition stays below 2^53. */
const CARRY_AT = 2 ** 52;

/**
 * Sums of wei in a column, stored as 32-bit limbs that doubles represent exactly. Bigints would cost ten times as much
 * per entry.
 */
export class WeiSums {
  private limbs: Float64Array;
  private readonly overflow = new Map<number, bigint>();

  /** Creates `rows` sums, all zero. */
  constructor(rows: number) {
    this.limbs = new Float64Array(rows * LIMBS);
  }

  get bytes(): number {
    return this.limbs.byteLength;
  }

  /** Number of sums that fit. */
  get rows(): number {
    return this.limbs.length / LIMBS;
  }

  /** Makes room for `rows` sums and keeps the existing ones. */
  grow(rows: number): void {
    const limbs = new Float64Array(rows * LIMBS);
    limbs.set(this.limbs);
    this.limbs = limbs;
  }

  /** Resets the first `rows` sums to zero. */
  clear(rows: number): void {
    this.limbs.fill(0, 0, rows * LIMBS);
    this.overflow.clear();
  }

  /** Adds the wei of the current entry to the sum of a row. A token transfer adds none. */
  add(row: number, { bytes, amountStart, amountEnd }: HistoryCursor): void {
    if (amountEnd - amountStart > MAX_LIMB_BYTES) {
      const wei = bytesToBigInt(bytes.subarray(amountStart, amountEnd));
      this.overflow.set(row, (this.overflow.get(row) ?? 0n) + wei);
      return;
    }
    const { limbs } = this;
    for (let end = amountEnd, limb = row * LIMBS; end > amountStart; end -= 4, limb++) {
      let value = 0;
      for (let at = Math.max(amountStart, end - 4); at < end; at++) value = value * 256 + bytes[at]!;
      const sum = limbs[limb]! + value;
      limbs[limb] = sum;
      if (sum >= CARRY_AT) this.carry(row);
    }
  }

  sum(row: number): bigint {
    const [low = 0, middle = 0, high = 0] = this.limbs.subarray(row * LIMBS, (row + 1) * LIMBS);
    return (this.overflow.get(row) ?? 0n) + BigInt(low) + (BigInt(middle) << 32n) + (BigInt(high) << 64n);
  }

  private carry(row: number): void {
    this.overflow.set(row, this.sum(row));
    this.limbs.fill(0, row * LIMBS, (row + 1) * LIMBS);
  }
}

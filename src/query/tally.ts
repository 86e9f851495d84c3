/**
 * Sums over a wallet's activity, one row per wallet on the other side. A hot wallet has millions of entries, so rows
 * live in typed arrays, and sums of wei in limbs of 32 bits that doubles hold exactly: objects and big integers cost
 * ten times as much.
 */
import { bytesToBigInt } from '../lib/hex.ts';
import type { ActivityCursor } from '../store/activity.ts';
import { RowNumbers } from './row-numbers.ts';

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

/** Fields of a row. Each direction has a count and the limbs of its sum, the lowest first. */
const OTHER = 0;
const FIRST = 1;
const LAST = 2;
const IN = 3;
const OUT = 7;
const FIELDS = 11;

const LIMBS = 3;
/** Wei of up to so many bytes are added limb by limb; longer ones, which no real chain has, as big integers. */
const LIMBED_BYTES = 4 * LIMBS;
/** A limb that reaches this is carried over: one more addition stays below 2^53. */
const CARRY_AT = 2 ** 52;

export class Tally {
  private readonly rows = new RowNumbers();
  private fields = new Float64Array(64 * FIELDS);
  /** Sums that limbs cannot hold, by the offset of their direction. */
  private readonly beyond = new Map<number, bigint>();

  /** Counts the entry at the cursor; `out` is its direction. Entries may come in any order. */
  add(cursor: ActivityCursor, out: boolean): void {
    const { other, transfer, amountStart, amountEnd } = cursor;
    const known = this.rows.size;
    const row = this.rows.of(other);
    if (row === known) this.begin(row, other);
    const { fields } = this;
    const at = row * FIELDS;
    if (transfer < fields[at + FIRST]!) fields[at + FIRST] = transfer;
    if (transfer > fields[at + LAST]!) fields[at + LAST] = transfer;
    const side = at + (out ? OUT : IN);
    fields[side]!++;
    if (amountEnd > amountStart) this.addWei(side, cursor);
  }

  /** The rows that come first by most transfers, then by the latest. */
  busiest(limit: number): TallyRow[] {
    const { fields } = this;
    const count = (row: number) => fields[row * FIELDS + IN]! + fields[row * FIELDS + OUT]!;
    const last = (row: number) => fields[row * FIELDS + LAST]!;
    return this.top(limit, (a, b) => count(b) - count(a) || last(b) - last(a));
  }

  /** The rows with the latest transfers, latest first. */
  latest(limit: number): TallyRow[] {
    const { fields } = this;
    return this.top(limit, (a, b) => fields[b * FIELDS + LAST]! - fields[a * FIELDS + LAST]!);
  }

  private top(limit: number, compare: (a: number, b: number) => number): TallyRow[] {
    const { fields } = this;
    return firstOf(this.rows.size, limit, compare).map((row) => {
      const at = row * FIELDS;
      return {
        other: fields[at + OTHER]!,
        inCount: fields[at + IN]!,
        outCount: fields[at + OUT]!,
        inWei: this.wei(at + IN),
        outWei: this.wei(at + OUT),
        first: fields[at + FIRST]!,
        last: fields[at + LAST]!,
      };
    });
  }

  private begin(row: number, other: number): void {
    const at = row * FIELDS;
    if (at === this.fields.length) {
      const larger = new Float64Array(at * 2);
      larger.set(this.fields);
      this.fields = larger;
    }
    this.fields[at + OTHER] = other;
    this.fields[at + FIRST] = Number.POSITIVE_INFINITY;
  }

  private addWei(side: number, { bytes, amountStart, amountEnd }: ActivityCursor): void {
    if (amountEnd - amountStart > LIMBED_BYTES) {
      this.addBeyond(side, bytesToBigInt(bytes.subarray(amountStart, amountEnd)));
      return;
    }
    const { fields } = this;
    for (let end = amountEnd, limb = side + 1; end > amountStart; end -= 4, limb++) {
      let value = 0;
      for (let at = Math.max(amountStart, end - 4); at < end; at++) value = value * 256 + bytes[at]!;
      const sum = fields[limb]! + value;
      fields[limb] = sum;
      if (sum >= CARRY_AT) this.carry(side);
    }
  }

  private addBeyond(side: number, wei: bigint): void {
    this.beyond.set(side, (this.beyond.get(side) ?? 0n) + wei);
  }

  private carry(side: number): void {
    this.addBeyond(side, this.limbs(side));
    this.fields.fill(0, side + 1, side + 1 + LIMBS);
  }

  private wei(side: number): bigint {
    return this.limbs(side) + (this.beyond.get(side) ?? 0n);
  }

  private limbs(side: number): bigint {
    let sum = 0n;
    for (let limb = 0; limb < LIMBS; limb++)
      sum += BigInt(this.fields[side + 1 + limb]!) << BigInt(32 * limb);
    return sum;
  }
}

/** Of the numbers below `count` the first `limit` in the order of `compare`: each is compared with the last of the best so far, and few get further. */
function firstOf(count: number, limit: number, compare: (a: number, b: number) => number): number[] {
  const best: number[] = [];
  for (let row = 0; row < count; row++) {
    if (best.length === limit) {
      if (compare(row, best[limit - 1]!) >= 0) continue;
      best.pop();
    }
    let at = best.length;
    while (at > 0 && compare(row, best[at - 1]!) < 0) at--;
    best.splice(at, 0, row);
  }
  return best;
}

/**
 * Sums of wei in a column, stored as 32-bit limbs that doubles represent exactly: big integers would cost ten times as
 * much per entry.
 */
import { bytesToBigInt } from '../lib/hex.ts';
import type { ActivityCursor } from '../store/activity.ts';

const LIMBS = 3;
/** Amounts of up to so many bytes are added limb by limb; longer ones, which no real chain has, as big integers. */
const MAX_LIMB_BYTES = 4 * LIMBS;
/** A limb that reaches this is carried: one more addition stays below 2^53. */
const CARRY_AT = 2 ** 52;

export class WeiSums {
  private limbs: Float64Array;
  private readonly overflow = new Map<number, bigint>();

  /** `rows` sums, all zero. */
  constructor(rows: number) {
    this.limbs = new Float64Array(rows * LIMBS);
  }

  get bytes(): number {
    return this.limbs.byteLength;
  }

  /** Number of sums that there is room for. */
  get rows(): number {
    return this.limbs.length / LIMBS;
  }

  /** Makes room for `rows` sums and keeps the present ones. */
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

  /** Adds the wei of the entry at the cursor (none for a token transfer) to the sum of a row. */
  add(row: number, { bytes, amountStart, amountEnd }: ActivityCursor): void {
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

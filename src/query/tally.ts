/**
 * Sums over a wallet's activity, one row per wallet on the other side. A hot wallet has millions of entries, so rows
 * live in typed arrays, and sums of wei in limbs of 32 bits that doubles hold exactly: big integers cost ten times
 * as much.
 */
import { bytesToBigInt } from '../lib/hex.ts';
import type { ActivityCursor } from '../store/activity.ts';

/** A limb is carried over at this value: one more addition stays below 2^53. */
const CARRY_AT = 2 ** 52;
/** Wei of up to so many bytes are added limb by limb; longer ones, which no real chain has, as big integers. */
const LIMBS = 3;
const LIMBED_BYTES = 4 * LIMBS;

/** Transfers in one direction between the wallet and another. */
class Side {
  counts = new Uint32Array(64);
  private limbs = new Float64Array(64 * LIMBS);
  private readonly beyond = new Map<number, bigint>();

  grow(rows: number): void {
    this.counts = enlarged(this.counts, new Uint32Array(rows));
    this.limbs = enlarged(this.limbs, new Float64Array(rows * LIMBS));
  }

  /** Adds the entry at the cursor; one of a token has no wei. */
  add(row: number, { bytes, amountStart, amountEnd }: ActivityCursor): void {
    this.counts[row]!++;
    if (amountEnd - amountStart > LIMBED_BYTES) {
      const wei = bytesToBigInt(bytes.subarray(amountStart, amountEnd));
      this.beyond.set(row, (this.beyond.get(row) ?? 0n) + wei);
      return;
    }
    for (let end = amountEnd, limb = row * LIMBS; end > amountStart; end -= 4, limb++) {
      let value = 0;
      for (let at = Math.max(amountStart, end - 4); at < end; at++) value = value * 256 + bytes[at]!;
      this.limbs[limb]! += value;
      if (this.limbs[limb]! >= CARRY_AT) this.carry(row);
    }
  }

  wei(row: number): bigint {
    let sum = this.beyond.get(row) ?? 0n;
    for (let limb = 0; limb < LIMBS; limb++) {
      sum += BigInt(this.limbs[row * LIMBS + limb]!) << BigInt(32 * limb);
    }
    return sum;
  }

  private carry(row: number): void {
    const wei = this.wei(row);
    this.limbs.fill(0, row * LIMBS, (row + 1) * LIMBS);
    this.beyond.set(row, wei);
  }
}

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

export class Tally {
  private readonly rows = new Map<number, number>();
  private readonly in = new Side();
  private readonly out = new Side();
  private others = new Float64Array(64);
  private firsts = new Float64Array(64);
  private lasts = new Float64Array(64);

  /** Counts the entry at the cursor; `out` is its direction. Entries may come in any order. */
  add(cursor: ActivityCursor, out: boolean): void {
    const row = this.rows.get(cursor.other) ?? this.begin(cursor.other);
    const id = cursor.transfer;
    if (id < this.firsts[row]!) this.firsts[row] = id;
    if (id > this.lasts[row]!) this.lasts[row] = id;
    (out ? this.out : this.in).add(row, cursor);
  }

  /** The rows that come first by most transfers, then by the latest. */
  busiest(limit: number): TallyRow[] {
    const count = (row: number) => this.in.counts[row]! + this.out.counts[row]!;
    return this.top(limit, (a, b) => count(b) - count(a) || this.lasts[b]! - this.lasts[a]!);
  }

  /** The rows with the latest transfers, latest first. */
  latest(limit: number): TallyRow[] {
    return this.top(limit, (a, b) => this.lasts[b]! - this.lasts[a]!);
  }

  private top(limit: number, compare: (a: number, b: number) => number): TallyRow[] {
    return bestOf(this.rows.size, limit, compare).map((row) => ({
      other: this.others[row]!,
      inCount: this.in.counts[row]!,
      outCount: this.out.counts[row]!,
      inWei: this.in.wei(row),
      outWei: this.out.wei(row),
      first: this.firsts[row]!,
      last: this.lasts[row]!,
    }));
  }

  private begin(other: number): number {
    const row = this.rows.size;
    if (row === this.others.length) this.grow(row * 2);
    this.rows.set(other, row);
    this.others[row] = other;
    this.firsts[row] = Number.POSITIVE_INFINITY;
    return row;
  }

  private grow(rows: number): void {
    this.in.grow(rows);
    this.out.grow(rows);
    this.others = enlarged(this.others, new Float64Array(rows));
    this.firsts = enlarged(this.firsts, new Float64Array(rows));
    this.lasts = enlarged(this.lasts, new Float64Array(rows));
  }
}

function enlarged<T extends Float64Array | Uint32Array>(from: T, to: T): T {
  to.set(from);
  return to;
}

/** Of the numbers below `count` the first `limit` in the order of `compare`: each is compared with the last of the best so far, and few get further. */
function bestOf(count: number, limit: number, compare: (a: number, b: number) => number): number[] {
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

/**
 * The packed form of a wallet's sums of its trades of a token: an entry for each quote, by ascending quote. An entry
 * has one number, four times the quote and a bit each for whether there are buys and sells, then for each of the two
 * the count, and the amounts of token and quote with their lengths. Most entries take 20 to 40 bytes.
 */
import { bytesToBigInt, writeBigInt } from '../../lib/hex.ts';
import { averageCostProfit, type TradeSums } from '../../trades/profit.ts';
import { writeVarint } from '../paged-history.ts';
import { takeScratch } from '../scratch.ts';

/** Sums against one quote: NATIVE or tokens.id. */
export interface QuoteSums extends TradeSums {
  quote: number;
}

const HAS_BUYS = 1;
const HAS_SELLS = 2;
const BITS = 4;

export function noSums(quote: number): QuoteSums {
  return { quote, buys: 0, sells: 0, bought: 0n, sold: 0n, spent: 0n, received: 0n };
}

/** More than an entry takes: three varints, and four amounts of below 256 bytes. */
const MAX_ENTRY = 2_048;
let packed = new Uint8Array(8 * MAX_ENTRY);

/** `sums`: by ascending quote, each with trades. Returns scratch (store/scratch.ts). */
export function packSums(sums: readonly QuoteSums[]): Uint8Array {
  if (sums.length * MAX_ENTRY > packed.length) packed = new Uint8Array(2 * sums.length * MAX_ENTRY);
  let end = 0;
  for (const { quote, buys, sells, bought, spent, sold, received } of sums) {
    end = writeVarint(packed, end, quote * BITS + (buys > 0 ? HAS_BUYS : 0) + (sells > 0 ? HAS_SELLS : 0));
    if (buys > 0) end = writeSide(end, buys, bought, spent);
    if (sells > 0) end = writeSide(end, sells, sold, received);
  }
  const bytes = takeScratch(end);
  for (let i = 0; i < end; i++) bytes[i] = packed[i]!;
  return bytes;
}

function writeSide(at: number, count: number, amount: bigint, quoteAmount: bigint): number {
  return writeBigInt(packed, writeBigInt(packed, writeVarint(packed, at, count), amount), quoteAmount);
}

/** The sums of a row. Reading damaged bytes ends early and never fails. */
export function unpackSums(bytes: Uint8Array): QuoteSums[] {
  const found: QuoteSums[] = [];
  const reader = new Reader(bytes);
  while (reader.next()) found.push(reader.sums());
  return found;
}

/** The sums of a row against one quote, null if there are none. */
export function sumsAgainst(bytes: Uint8Array, quote: number): QuoteSums | null {
  const reader = new Reader(bytes);
  return reader.seek(quote) ? reader.sums() : null;
}

/** Their averageCostProfit, null if there are none. Most have only buys or only sells: no amount of those is read. */
export function profitAgainst(bytes: Uint8Array, quote: number): bigint | null {
  const reader = new Reader(bytes);
  if (!reader.seek(quote)) return null;
  return reader.bits === (HAS_BUYS | HAS_SELLS) ? averageCostProfit(reader.sums()) : 0n;
}

/** Reads the entries of a row, each by `sums` or `skip`. */
class Reader {
  /** Of the current entry. */
  quote = 0;
  bits = 0;
  private readonly bytes: Uint8Array;
  private at = 0;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  /** Reads the head of the next entry; false at the end. */
  next(): boolean {
    if (this.at >= this.bytes.length) return false;
    const head = this.varint();
    this.bits = head % BITS;
    this.quote = (head - this.bits) / BITS;
    return true;
  }

  /** Goes to the entry of a quote; false if there is none. */
  seek(quote: number): boolean {
    while (this.next()) {
      if (this.quote === quote) return true;
      for (const side of [HAS_BUYS, HAS_SELLS]) if ((this.bits & side) !== 0) this.skipSide();
    }
    return false;
  }

  sums(): QuoteSums {
    const sums = noSums(this.quote);
    if ((this.bits & HAS_BUYS) !== 0) {
      sums.buys = this.varint();
      sums.bought = this.amount();
      sums.spent = this.amount();
    }
    if ((this.bits & HAS_SELLS) !== 0) {
      sums.sells = this.varint();
      sums.sold = this.amount();
      sums.received = this.amount();
    }
    return sums;
  }

  private skipSide(): void {
    this.varint();
    for (let amounts = 0; amounts < 2; amounts++) this.at += 1 + (this.bytes[this.at] ?? 0);
  }

  private varint(): number {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = this.bytes[this.at++] ?? 0;
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
  }

  private amount(): bigint {
    const start = this.at + 1;
    this.at = start + (this.bytes[this.at] ?? 0);
    return bytesToBigInt(this.bytes, start, Math.min(this.at, this.bytes.length));
  }
}

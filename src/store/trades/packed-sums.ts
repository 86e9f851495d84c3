/**
 * The packed form of a wallet's sums of its trades of a token: an entry for each quote, by ascending quote. An entry
 * has one number, four times the quote and a bit each for whether there are buys and sells, then for each of the two
 * the count, and the amounts of token and quote with their lengths. Most entries take 20 to 40 bytes.
 */
import { bytesToBigInt, pushBigInt } from '../../lib/hex.ts';
import { pushVarint } from '../../lib/varint.ts';
import { averageCostProfit, type TradeSums } from '../../trades/profit.ts';

/** Sums against one quote: NATIVE or tokens.id. */
export interface QuoteSums extends TradeSums {
  quote: number;
}

const HAS_BUYS = 1;
const HAS_SELLS = 2;
const BITS = 4;

/** `sums`: by ascending quote, each with trades. */
export function packSums(sums: readonly QuoteSums[]): Uint8Array {
  const bytes: number[] = [];
  for (const { quote, buys, sells, bought, spent, sold, received } of sums) {
    pushVarint(bytes, quote * BITS + (buys > 0 ? HAS_BUYS : 0) + (sells > 0 ? HAS_SELLS : 0));
    if (buys > 0) pushSide(bytes, buys, bought, spent);
    if (sells > 0) pushSide(bytes, sells, sold, received);
  }
  return new Uint8Array(bytes); // `from` takes several times as long
}

function pushSide(bytes: number[], count: number, amount: bigint, quoteAmount: bigint): void {
  pushVarint(bytes, count);
  pushBigInt(bytes, amount);
  pushBigInt(bytes, quoteAmount);
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

type PackedSide = readonly [count: number, amount: bigint, quoteAmount: bigint];
const NO_SIDE: PackedSide = [0, 0n, 0n];

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
    const [buys, bought, spent] = (this.bits & HAS_BUYS) === 0 ? NO_SIDE : this.side();
    const [sells, sold, received] = (this.bits & HAS_SELLS) === 0 ? NO_SIDE : this.side();
    return { quote: this.quote, buys, sells, bought, sold, spent, received };
  }

  private side(): PackedSide {
    return [this.varint(), this.amount(), this.amount()];
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

/**
 * The packed form of a wallet's sums of its trades of a token: an entry for each quote, by ascending quote. An entry has
 * one number, four times the quote and a bit each for whether there are buys and sells, then for each of the two the
 * count, and the amounts of token and quote with their lengths. Most entries take 20 to 40 bytes.
 */
import { bigIntToBytes, bytesToBigInt } from '../../lib/hex.ts';
import { pushVarint } from '../../lib/varint.ts';
import type { TradeSums } from '../../trades/profit.ts';

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
  return Uint8Array.from(bytes);
}

function pushSide(bytes: number[], count: number, amount: bigint, quoteAmount: bigint): void {
  pushVarint(bytes, count);
  for (const value of [amount, quoteAmount]) {
    const digits = bigIntToBytes(value);
    bytes.push(digits.length);
    for (const digit of digits) bytes.push(digit);
  }
}

/** The sums of a row. Reading damaged bytes ends early and never fails. */
export function unpackSums(bytes: Uint8Array): QuoteSums[] {
  const found: QuoteSums[] = [];
  const reader = new Reader(bytes);
  while (!reader.isAtEnd) {
    const head = reader.varint();
    const bits = head % BITS;
    const [buys, bought, spent] = (bits & HAS_BUYS) === 0 ? NO_SIDE : reader.side();
    const [sells, sold, received] = (bits & HAS_SELLS) === 0 ? NO_SIDE : reader.side();
    found.push({ quote: Math.floor(head / BITS), buys, sells, bought, sold, spent, received });
  }
  return found;
}

type PackedSide = readonly [count: number, amount: bigint, quoteAmount: bigint];
const NO_SIDE: PackedSide = [0, 0n, 0n];

class Reader {
  private readonly bytes: Uint8Array;
  private at = 0;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  get isAtEnd(): boolean {
    return this.at >= this.bytes.length;
  }

  varint(): number {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = this.bytes[this.at++] ?? 0;
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
  }

  side(): PackedSide {
    return [this.varint(), this.amount(), this.amount()];
  }

  private amount(): bigint {
    const start = this.at + 1;
    this.at = start + (this.bytes[this.at] ?? 0);
    return bytesToBigInt(this.bytes.subarray(start, this.at));
  }
}

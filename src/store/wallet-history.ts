import { NATIVE_KINDS, TOKEN_KINDS } from '../model/transfer-kind.ts';

export const ENTRIES_PER_PAGE = 128;

/** Flags of an entry: three bits of TransferKind, then these. An entry is outgoing, incoming, or both. */
export const HistoryFlag = {
  kindMask: 7,
  out: 8,
  in: 16,
  /** The amount is zero. The transfer is listed, but a zero token transfer does not count towards counterparties. */
  zero: 32,
} as const;

const MAX_WEI_BYTES = 32;

/** Longest entry without its wei, bytes: id and wallet varints of up to 8 and 5 bytes, and a code. */
const MAX_ENTRY_HEADER_BYTES = 14;

/** Longest entry with this amount, bytes. */
export function maxEntryBytes(wei: Uint8Array | null): number {
  return MAX_ENTRY_HEADER_BYTES + (wei?.length ?? 0);
}

/**
 * One byte encodes the flags and the number of wei bytes: the 216 possible combinations are numbered in a fixed order.
 * FLAGS and WEI_BYTES are indexed by that code; CODES gives the code of `bytes * 64 + flags`.
 */
const FLAGS = new Uint8Array(256);
const WEI_BYTES = new Uint8Array(256);
const CODES = new Uint8Array((MAX_WEI_BYTES + 1) * 64);
{
  let code = 0;
  const add = (flags: number, bytes: number) => {
    for (const direction of [HistoryFlag.out, HistoryFlag.in, HistoryFlag.out | HistoryFlag.in]) {
      FLAGS[code] = flags | direction;
      WEI_BYTES[code] = bytes;
      CODES[bytes * 64 + (flags | direction)] = code++;
    }
  };
  for (const kind of NATIVE_KINDS) {
    for (let bytes = 0; bytes <= MAX_WEI_BYTES; bytes++)
      add(bytes === 0 ? kind | HistoryFlag.zero : kind, bytes);
  }
  for (const kind of TOKEN_KINDS) {
    for (const zero of [0, HistoryFlag.zero]) add(kind | zero, 0);
  }
}

/** Reads the entries of a page. The fields hold the current entry. */
export class HistoryCursor {
  transfer = 0;
  flags = 0;
  counterparty = 0;
  /** Where the amount of a native entry begins and ends in `bytes`; equal for a token entry. */
  amountStart = 0;
  amountEnd = 0;
  bytes: Uint8Array = new Uint8Array(0);
  private at = 0;
  private base = 0;

  /** Positions before the first entry of a page. `base` is the wallet's first transfer. */
  open(bytes: Uint8Array, base: number): this {
    this.bytes = bytes;
    this.base = base;
    this.rewind();
    return this;
  }

  /** Goes back to before the first entry. */
  rewind(): void {
    this.at = 0;
    this.transfer = this.base;
  }

  /** Offset after the current entry. */
  get offset(): number {
    return this.at;
  }

  /** Steps to the next entry; false at the end of the page. */
  next(): boolean {
    if (!(this.at < this.bytes.length)) return false; // also stops after a truncated entry, where the offset is NaN
    this.transfer += this.varint();
    const code = this.bytes[this.at++]!;
    this.flags = FLAGS[code]!;
    this.counterparty = this.varint();
    this.amountStart = this.at;
    this.at += WEI_BYTES[code]!;
    this.amountEnd = this.at;
    return true;
  }

  private varint(): number {
    let byte = this.bytes[this.at++]!;
    let value = byte & 127;
    let scale = 128;
    while (byte > 127) {
      byte = this.bytes[this.at++]!;
      value += (byte & 127) * scale;
      scale *= 128;
    }
    return value;
  }
}

function writeVarint(out: Uint8Array, at: number, value: number): number {
  let rest = value;
  while (rest > 127) {
    out[at++] = (rest % 128) | 128;
    rest = Math.floor(rest / 128);
  }
  out[at++] = rest;
  return at;
}

/**
 * Writes one entry into `out` at `at` and returns the offset after it. `idDelta` is the transfer's id minus that of the
 * previous entry in the page; for the first entry of a page, minus the wallet's first transfer. `wei` is null for a
 * token.
 */
export function writeEntry(
  out: Uint8Array,
  at: number,
  idDelta: number,
  flags: number,
  counterparty: number,
  wei: Uint8Array | null,
): number {
  let end = writeVarint(out, at, idDelta);
  out[end++] = CODES[(wei === null ? 0 : wei.length * 64) + flags]!;
  end = writeVarint(out, end, counterparty);
  if (wei === null) return end;
  out.set(wei, end);
  return end + wei.length;
}

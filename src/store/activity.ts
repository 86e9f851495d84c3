/**
 * Packed lists of a wallet's transfers: the read side of every wallet endpoint and the hottest bytes of the store.
 *
 * An entry is: varint distance of the transfer id to the entry before (the first entry of a run has its id), one
 * byte of flags, varint wallet id of the other side, and for a native transfer one byte of length and that many
 * bytes of wei. A plain index row per wallet and transfer costs 20 to 40 bytes and a random page each; an entry
 * costs 5 to 15 and lies in a row that the commit rewrites anyway. Rankings over a wallet's whole history
 * (counterparties, recipients) read only these bytes.
 *
 * A run holds ACTIVITY_RUN entries; `wallets.recent` holds the last, unfinished one, never empty for a wallet that
 * has transfers. So where a run ends depends on the chain alone and not on how it was committed.
 */
import { Kind } from '../types.ts';

export const ACTIVITY_RUN = 128;

/** Flags of an entry: three bits of Kind, then these. */
export const Flag = {
  kindMask: 7,
  out: 8,
  in: 16,
  /** A token transfer of amount zero: listed, but makes nobody a counterparty. */
  zero: 32,
} as const;

/** Most bytes one entry can take: id and wallet varints of up to 8 and 5 bytes, flags, length, 32 bytes of wei. */
export const MAX_ENTRY_BYTES = 47;

/** One unpacked entry. The cursor reuses its fields: copy what must outlive the next step. */
export class ActivityCursor {
  transfer = 0;
  flags = 0;
  other = 0;
  /** Where the wei of a native entry begin and end in `bytes`; equal for a token entry. */
  amountStart = 0;
  amountEnd = 0;
  bytes: Uint8Array = new Uint8Array(0);
  private at = 0;

  /** Begins at the first entry of a run. */
  open(bytes: Uint8Array): this {
    this.bytes = bytes;
    this.at = 0;
    this.transfer = 0;
    return this;
  }

  /** Offset behind the entry read last. */
  get offset(): number {
    return this.at;
  }

  /** Steps to the next entry; false at the end of the run. */
  next(): boolean {
    if (!(this.at < this.bytes.length)) return false; // also behind a cut-off entry, where the offset is no number
    this.transfer += this.varint();
    this.flags = this.bytes[this.at++]!;
    this.other = this.varint();
    const kind = this.flags & Flag.kindMask;
    const length = kind === Kind.nativeDirect || kind === Kind.nativeInternal ? this.bytes[this.at++]! : 0;
    this.amountStart = this.at;
    this.at += length;
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
 * Writes one entry into `out` at `at` and returns the offset behind it. `distance` is the transfer's id minus the
 * id of the entry before it in the run, or the id itself for a run's first entry. `wei` is null for a token.
 */
export function writeEntry(
  out: Uint8Array,
  at: number,
  distance: number,
  flags: number,
  other: number,
  wei: Uint8Array | null,
): number {
  let end = writeVarint(out, at, distance);
  out[end++] = flags;
  end = writeVarint(out, end, other);
  if (wei !== null) {
    out[end++] = wei.length;
    out.set(wei, end);
    end += wei.length;
  }
  return end;
}

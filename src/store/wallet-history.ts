/** The entries of a wallet's history (paged-history.ts): flags, the other side, and the wei of a native transfer. */
import { NATIVE_KINDS, TOKEN_KINDS } from '../model/transfer-kind.ts';
import { PageCursor, type PagedHistory, writeVarint } from './paged-history.ts';

export const ENTRIES_PER_PAGE = 128;

export const WALLET_HISTORY: PagedHistory = {
  owners: 'wallets',
  pages: 'activity',
  owner: 'wallet',
  entriesPerPage: ENTRIES_PER_PAGE,
};

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
export class HistoryCursor extends PageCursor {
  flags = 0;
  counterparty = 0;
  /** Where the amount of a native entry begins and ends in `bytes`; equal for a token entry. */
  amountStart = 0;
  amountEnd = 0;

  override next(): boolean {
    if (!super.next()) return false;
    const code = this.bytes[this.at++]!;
    this.flags = FLAGS[code]!;
    this.counterparty = this.varint();
    this.amountStart = this.at;
    this.at += WEI_BYTES[code]!;
    this.amountEnd = this.at;
    return true;
  }
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

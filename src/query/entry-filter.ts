/** Which entries of a wallet's history are wanted. */
import { isNativeKind } from '../model/transfer-kind.ts';
import { type HistoryCursor, HistoryFlag } from '../store/wallet-history.ts';
import type { IdRange } from './blocks.ts';

export interface EntryFilter extends IdRange {
  /** Bits of HistoryFlag.in and HistoryFlag.out. An entry must have at least one of them. */
  direction: number;
  /** A bit `1 << kind` for each wanted kind. */
  kinds: number;
  /** wallets.id of the other side. */
  counterparty?: number | undefined;
  /** Only native transfers of at least this amount, as shortest big-endian bytes. */
  minWei?: Uint8Array | undefined;
}

/** Puts the wanted entries of a page into `matches`, oldest first, and returns their number. */
export function collectMatches(cursor: HistoryCursor, filter: EntryFilter, matches: Float64Array): number {
  const { from, below, direction, kinds, counterparty, minWei } = filter;
  let count = 0;
  while (cursor.next() && cursor.transfer < below) {
    if (cursor.transfer < from) continue;
    if ((cursor.flags & direction) === 0 || ((kinds >> (cursor.flags & HistoryFlag.kindMask)) & 1) === 0)
      continue;
    if (counterparty !== undefined && cursor.counterparty !== counterparty) continue;
    if (minWei !== undefined && !hasAtLeast(cursor, minWei)) continue;
    matches[count++] = cursor.transfer;
  }
  return count;
}

/** Whether the current entry carries at least this many wei. A token entry carries none. */
function hasAtLeast(cursor: HistoryCursor, wei: Uint8Array): boolean {
  if (!isNativeKind(cursor.flags & HistoryFlag.kindMask)) return false;
  const { bytes, amountStart, amountEnd } = cursor;
  const longer = amountEnd - amountStart - wei.length;
  if (longer !== 0) return longer > 0;
  for (let i = 0; i < wei.length; i++) {
    const difference = bytes[amountStart + i]! - wei[i]!;
    if (difference !== 0) return difference > 0;
  }
  return true;
}

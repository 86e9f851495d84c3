/** Single entries of a wallet's activity. */
import { bigIntToBytes } from '../../../src/lib/hex.ts';
import { TransferKind } from '../../../src/model/transfer-kind.ts';
import { HistoryCursor, HistoryFlag, writeEntry } from '../../../src/store/wallet-history.ts';

/** A cursor positioned on one native entry; `direction` is from HistoryFlag. */
export function nativeEntry(
  transfer: number,
  other: number,
  wei: bigint,
  direction: number = HistoryFlag.in,
): HistoryCursor {
  const bytes = new Uint8Array(64);
  const end = writeEntry(
    bytes,
    0,
    transfer,
    TransferKind.nativeDirect | direction,
    other,
    bigIntToBytes(wei),
  );
  const cursor = new HistoryCursor().open(bytes.subarray(0, end), 0);
  cursor.next();
  return cursor;
}

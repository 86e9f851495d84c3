/** Single entries of a wallet's activity. */
import { bigIntToBytes } from '../../src/lib/hex.ts';
import { ActivityCursor, ActivityFlag, writeEntry } from '../../src/store/activity.ts';
import { TransferKind } from '../../src/types.ts';

/** A cursor that stands on one native entry; `direction` is of ActivityFlag. */
export function nativeEntry(
  transfer: number,
  other: number,
  wei: bigint,
  direction: number = ActivityFlag.in,
): ActivityCursor {
  const bytes = new Uint8Array(64);
  const end = writeEntry(
    bytes,
    0,
    transfer,
    TransferKind.nativeDirect | direction,
    other,
    bigIntToBytes(wei),
  );
  const cursor = new ActivityCursor().open(bytes.subarray(0, end), 0);
  cursor.next();
  return cursor;
}

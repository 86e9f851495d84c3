/** Which NFTs a wallet's part in a transaction is of. */
import { isSemiFungible, movesOne } from '../model/transfer-kind.ts';
import type { AssetAmount, PartTransfer } from '../model/wallet-part.ts';

/** The ids of NFTs, hex digits, that a wallet has more of (1) or fewer of (-1) than before; null for other assets. */
export function movedIds(
  { kind, token, tokenNumber }: AssetAmount,
  sign: 1 | -1,
  wallet: number,
  rows: readonly PartTransfer[],
): string[] | null {
  if (isSemiFungible(kind)) return [tokenNumber];
  if (!movesOne(kind)) return null;
  const moved = new Map<string, number>();
  for (const row of rows) {
    if (row.token !== token || row.kind !== kind || row.from === row.to) continue;
    moved.set(row.tokenNumber, (moved.get(row.tokenNumber) ?? 0) + (row.to === wallet ? sign : -sign));
  }
  return [...moved].filter(([, change]) => change > 0).map(([id]) => id);
}

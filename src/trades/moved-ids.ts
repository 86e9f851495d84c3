/** Which NFTs a leg of a trade consists of. */
import { isSemiFungible, movesOne } from '../model/transfer-kind.ts';
import type { AssetAmount, PartTransfer } from '../model/wallet-part.ts';

/** Most token ids listed of a leg. */
export const LISTED_IDS = 20;

/**
 * The ids of NFTs, as `PartTransfer.tokenNumber` spells them, that a wallet has more of (1) or fewer of (-1) than before
 * a transaction; null for other assets.
 */
export function movedIds(
  { kind, token, tokenNumber }: AssetAmount,
  sign: 1 | -1,
  wallet: number,
  transfers: readonly PartTransfer[],
): string[] | null {
  if (isSemiFungible(kind)) return [tokenNumber];
  if (!movesOne(kind)) return null;
  const moved = new Map<string, number>();
  for (const transfer of transfers) {
    const { from, to } = transfer;
    if (transfer.token !== token || transfer.kind !== kind || from === to) continue;
    if (from !== wallet && to !== wallet) continue;
    const change = to === wallet ? sign : -sign;
    moved.set(transfer.tokenNumber, (moved.get(transfer.tokenNumber) ?? 0) + change);
  }
  return [...moved].filter(([, change]) => change > 0).map(([id]) => id);
}

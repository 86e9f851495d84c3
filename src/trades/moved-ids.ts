/** Which NFTs a wallet's part in a transaction is of. */
import { isSemiFungible, movesOne } from '../model/transfer-kind.ts';
import type { Asset, PartTransfer } from '../model/wallet-part.ts';

/** Most token ids listed of a leg. */
export const LISTED_IDS = 20;

/** Which NFTs a wallet has more or fewer of after a transaction. Add its transfers there. */
export class MovedIds {
  private readonly wallet: number;
  /** Changes by id, by token. */
  private readonly changes = new Map<number, Map<string, number>>();

  constructor(wallet: number) {
    this.wallet = wallet;
  }

  add({ kind, token, tokenNumber, from, to }: PartTransfer): void {
    if (!movesOne(kind) || from === to) return;
    let ofToken = this.changes.get(token);
    if (ofToken === undefined) {
      ofToken = new Map();
      this.changes.set(token, ofToken);
    }
    ofToken.set(tokenNumber, (ofToken.get(tokenNumber) ?? 0) + (to === this.wallet ? 1 : -1));
  }

  /**
   * The ids of an asset, as `PartTransfer.tokenNumber` spells them, that the wallet has more of (1) or fewer of (-1);
   * null for other assets.
   */
  of({ kind, token, tokenNumber }: Asset, sign: 1 | -1): string[] | null {
    if (isSemiFungible(kind)) return [tokenNumber];
    if (!movesOne(kind)) return null;
    return [...(this.changes.get(token) ?? [])].filter(([, change]) => change * sign > 0).map(([id]) => id);
  }
}

/** `transfers`: of one transaction; those of other wallets do not count. */
export function movedIdsOf(wallet: number, transfers: Iterable<PartTransfer>): MovedIds {
  const moved = new MovedIds(wallet);
  for (const transfer of transfers)
    if (transfer.from === wallet || transfer.to === wallet) moved.add(transfer);
  return moved;
}

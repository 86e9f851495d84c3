/** Everything that streams read from the index, prepared once. */
import { chainOf, prepareLastBlock } from '../store/chain.ts';
import type { Db } from '../store/open-database.ts';
import { prepareEventReader } from './events.ts';
import { prepareWalletHistory } from './history.ts';
import { prepareLastIdsAt, prepareLastIdsUpTo } from './last-ids.ts';
import { prepareTransferScan, prepareWalletsAfter } from './scan.ts';
import type { Snapshot } from './snapshot.ts';
import { prepareTokenSymbols } from './token-symbols.ts';
import { prepareWalletIdByAddress } from './wallets.ts';

export type StreamReads = ReturnType<typeof prepareStreamReads>;

/** `snapshot` must be of the same connection: all reads of one turn see one commit. */
export function prepareStreamReads(db: Db, snapshot: Snapshot) {
  const idOf = prepareWalletIdByAddress(db);
  const events = prepareEventReader(db);
  return {
    snapshot,
    lastIdsAt: prepareLastIdsAt(db),
    lastIdsUpTo: prepareLastIdsUpTo(db),
    lastBlock: prepareLastBlock(db),
    /** The id of the indexed chain; undefined until indexing began. */
    chainId: () => chainOf(db)?.chainId,
    scan: prepareTransferScan(db),
    walletsAfter: prepareWalletsAfter(db),
    events: events.byId,
    tokenSymbols: prepareTokenSymbols(db),
    invalidateWalletsAbove: events.invalidateWalletsAbove,
    history: prepareWalletHistory(db),
    /** The wallet id of an address of 40 hex digits without prefix. */
    walletId: (address: string) => idOf(`0x${address}`),
  };
}

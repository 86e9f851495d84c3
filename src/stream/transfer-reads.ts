/** Everything that streams read from the index, prepared once. */
import { commitEnds, endsUpTo, indexedChainId, lastBlock } from '../query/commits.ts';
import { eventReads } from '../query/events.ts';
import { walletHistory } from '../query/history.ts';
import { scanTransfers, walletsAfter } from '../query/scan.ts';
import type { Snapshot } from '../query/snapshot.ts';
import { walletIdOf } from '../query/wallets.ts';

type Db = Parameters<typeof commitEnds>[0];

export type TransferReads = ReturnType<typeof transferReads>;

/** `snapshot` must be of the same connection: what is read in one turn is of one commit. */
export function transferReads(db: Db, snapshot: Snapshot) {
  const idOf = walletIdOf(db);
  const events = eventReads(db);
  return {
    snapshot,
    commitEnds: commitEnds(db),
    endsUpTo: endsUpTo(db),
    lastBlock: lastBlock(db),
    chainId: indexedChainId(db),
    scan: scanTransfers(db),
    walletsAfter: walletsAfter(db),
    events: events.byId,
    forgetWalletsAbove: events.forgetWalletsAbove,
    history: walletHistory(db),
    /** The wallet id of an address of 40 hex digits without prefix. */
    walletId: (address: string) => idOf(`0x${address}`),
  };
}

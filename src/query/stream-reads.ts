/** Everything that streams read from the index, prepared once. */
import { chainOf, lastBlock } from '../store/chain.ts';
import type { Db } from '../store/open.ts';
import { commitEnds, endsUpTo } from './commits.ts';
import { eventReads } from './events.ts';
import { walletHistory } from './history.ts';
import { scanTransfers, walletsAfter } from './scan.ts';
import type { Snapshot } from './snapshot.ts';
import { walletIdOf } from './wallets.ts';

export type StreamReads = ReturnType<typeof streamReads>;

/** `snapshot` must be of the same connection: all reads of one turn see one commit. */
export function streamReads(db: Db, snapshot: Snapshot) {
  const idOf = walletIdOf(db);
  const events = eventReads(db);
  return {
    snapshot,
    commitEnds: commitEnds(db),
    endsUpTo: endsUpTo(db),
    lastBlock: lastBlock(db),
    /** The id of the indexed chain; undefined until indexing began. */
    chainId: () => chainOf(db)?.chainId,
    scan: scanTransfers(db),
    walletsAfter: walletsAfter(db),
    events: events.byId,
    forgetWalletsAbove: events.forgetWalletsAbove,
    history: walletHistory(db),
    /** The wallet id of an address of 40 hex digits without prefix. */
    walletId: (address: string) => idOf(`0x${address}`),
  };
}

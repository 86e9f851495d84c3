/** Where a commit ends, found by its last block. */
import { hexToBytes } from '../lib/hex.ts';
import { lastBlock, type Tip } from '../store/chain.ts';
import type { Db } from '../store/open.ts';
import type { BlockRef } from '../types.ts';

/** Highest ids up to and with a block. */
export type CommitEnds = Pick<Tip, 'lastTransfer' | 'lastWallet'>;

/** The ends of the commit whose last block is `tip`; undefined when the index does not contain that exact block. */
export function commitEnds(db: Db): (tip: BlockRef) => CommitEnds | undefined {
  const statement = db.prepare<[number, Uint8Array], CommitEnds>(/* sql */ `
    SELECT last_transfer AS lastTransfer, last_wallet AS lastWallet FROM blocks WHERE number = +? AND hash = +?`);
  return ({ number, hash }) => statement.get(number, hexToBytes(hash));
}

/** The ends of all blocks up to and with a height. */
export function endsUpTo(db: Db): (number: number) => CommitEnds {
  const lastUpTo = lastBlock(db);
  return (number) => lastUpTo(number) ?? { lastTransfer: 0, lastWallet: 0 };
}

/** The highest ids at a block. */
import { hexToBytes } from '../lib/hex.ts';
import { prepareLastBlock, type Tip } from '../store/chain.ts';
import type { Db } from '../store/open-database.ts';
import type { BlockRef } from '../types.ts';

/** Highest ids up to and with a block. */
export type LastIds = Pick<Tip, 'lastTransfer' | 'lastWallet'>;

/** The highest ids when `tip` was the last block; undefined when the index does not contain that exact block. */
export function prepareLastIdsAt(db: Db): (tip: BlockRef) => LastIds | undefined {
  const statement = db.prepare<[number, Uint8Array], LastIds>(/* sql */ `
    SELECT last_transfer AS lastTransfer, last_wallet AS lastWallet FROM blocks WHERE number = +? AND hash = +?`);
  return ({ number, hash }) => statement.get(number, hexToBytes(hash));
}

/** The highest ids up to and with a height. */
export function prepareLastIdsUpTo(db: Db): (number: number) => LastIds {
  const lastUpTo = prepareLastBlock(db);
  return (number) => lastUpTo(number) ?? { lastTransfer: 0, lastWallet: 0 };
}

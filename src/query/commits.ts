/** Where a commit ends, told by the block it ended with. */
import { hexToBytes } from '../lib/hex.ts';
import type { Db } from '../store/open.ts';
import type { BlockRef } from '../types.ts';

/** Highest ids up to and with a block. */
export interface CommitEnds {
  lastTransfer: number;
  lastWallet: number;
}

/** The ends of the commit whose last block is `tip`; undefined when the index does not hold that very block. */
export function commitEnds(db: Db): (tip: BlockRef) => CommitEnds | undefined {
  const statement = db.prepare<[number, Uint8Array], CommitEnds>(/* sql */ `
    SELECT last_transfer AS lastTransfer, last_wallet AS lastWallet FROM blocks WHERE number = +? AND hash = +?`);
  return ({ number, hash }) => statement.get(number, hexToBytes(hash));
}

/** The ends of all blocks up to and with a height. */
export function endsUpTo(db: Db): (number: number) => CommitEnds {
  const statement = db.prepare<[number], CommitEnds>(/* sql */ `
    SELECT last_transfer AS lastTransfer, last_wallet AS lastWallet FROM blocks
    WHERE number <= +? ORDER BY number DESC LIMIT 1`);
  return (number) => statement.get(number) ?? { lastTransfer: 0, lastWallet: 0 };
}

/** The id of the indexed chain; undefined until indexing began. */
export function indexedChainId(db: Db): () => number | undefined {
  const statement = db.prepare<[], number>('SELECT chain_id FROM chain').pluck();
  return () => statement.get();
}

/** The last indexed block, null while the index is empty. */
export function lastBlock(db: Db): () => BlockRef | null {
  const statement = db.prepare<[], { number: number; hash: Buffer }>(
    'SELECT number, hash FROM blocks ORDER BY number DESC LIMIT 1',
  );
  return () => {
    const row = statement.get();
    return row === undefined ? null : { number: row.number, hash: `0x${row.hash.toString('hex')}` };
  };
}

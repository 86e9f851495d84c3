/** Blocks in bulk, and the blocks of transfers. */
import { blockNumberSql, type Tip } from '../chain.ts';
import type { Db } from '../open-database.ts';
import { DamageError } from '../storage-error.ts';
import { idList } from './id-list.ts';

/** The columns of a Tip. */
const COLUMNS = /* sql */ `
  b.number, '0x' || lower(hex(b.hash)) AS hash, b.timestamp, b.last_transfer AS lastTransfer,
    b.last_wallet AS lastWallet, b.transactions`;

/** Blocks per read. */
const PAGE = 256;

export interface BlockReader {
  /** An indexed block, undefined when the index lacks it. */
  at(number: number): Tip | undefined;
  /** The blocks that contain transfers, in the order of their ids. */
  of(transfers: readonly number[]): Tip[];
  /** The indexed blocks with numbers `first .. last`, in order, read as they are taken. */
  range(first: number, last: number): Generator<Tip, void, void>;
}

export function prepareBlocks(db: Db): BlockReader {
  const at = db.prepare<[number], Tip>(`SELECT ${COLUMNS} FROM blocks b WHERE b.number = +?`);
  const of = db.prepare<[string], Tip>(/* sql */ `
    SELECT ${COLUMNS} FROM json_each(?) list CROSS JOIN blocks b ON b.number = ${blockNumberSql('list.value')}`);
  const page = db.prepare<[number, number], Tip>(
    `SELECT ${COLUMNS} FROM blocks b WHERE b.number >= +? AND b.number <= +? ORDER BY b.number`,
  );
  return {
    at: (number) => at.get(number),
    of(transfers) {
      const found = of.all(idList(transfers));
      if (found.length < transfers.length) throw new DamageError('a transfer belongs to no block');
      return found;
    },
    *range(first, last) {
      for (let next = first; next <= last; next += PAGE)
        yield* page.all(next, Math.min(last, next + PAGE - 1));
    },
  };
}

/** Returns the block of each transfer, for ids in ascending order that these blocks contain. */
export function blockFinder(blocks: Iterable<Tip>): (transfer: number) => Tip {
  const rest = blocks[Symbol.iterator]();
  let current = rest.next();
  return (transfer) => {
    while (!current.done) {
      if (transfer <= current.value.lastTransfer) return current.value;
      current = rest.next();
    }
    throw new DamageError(`transfer ${transfer} belongs to no block`);
  };
}

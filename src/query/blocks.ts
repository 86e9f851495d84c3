/** Blocks and the ids of their transfers. */
import { hexToBytes } from '../lib/hex.ts';
import type { BlockRef } from '../model/block.ts';
import { blockNumberSql, prepareLastBlock, type Tip } from '../store/chain.ts';
import type { Db } from '../store/open-database.ts';
import { idList } from './transfers.ts';

/** SQL: `Head.hashPrefix` of the block in a row of `blocks`. */
export const BLOCK_HASH_PREFIX = 'lower(hex(substr(hash, 1, 8)))';

/** The hash prefix of the indexed block of a height; undefined when there is none. */
export function prepareHashPrefix(db: Db): (number: number) => string | undefined {
  const statement = db
    .prepare<[number], string>(`SELECT ${BLOCK_HASH_PREFIX} FROM blocks WHERE number = +?`)
    .pluck();
  return (number) => statement.get(number);
}

/** Transfer ids `from <= id < below`. */
export interface IdRange {
  from: number;
  below: number;
}

/** Ids of the transfers in blocks `first .. last`, both included; either end may lie outside the index. */
export function prepareTransferIdsOfBlocks(db: Db): (first: number, last: number) => IdRange {
  const lastIdUpTo = db
    .prepare<[number], number>(
      'SELECT last_transfer FROM blocks WHERE number <= +? ORDER BY number DESC LIMIT 1',
    )
    .pluck();
  return (first, last) => ({
    from: (lastIdUpTo.get(first - 1) ?? 0) + 1,
    below: (lastIdUpTo.get(last) ?? 0) + 1,
  });
}

/** The block of a record. */
interface BlockTime {
  number: number;
  /** Unix seconds. */
  timestamp: number;
}

/** The block of each transfer of a list, in its order. */
export function prepareBlocksOfTransfers(db: Db): (ids: readonly number[]) => BlockTime[] {
  const statement = db.prepare<[string], BlockTime>(/* sql */ `
    SELECT b.number, b.timestamp
    FROM json_each(?) list CROSS JOIN blocks b ON b.number = ${blockNumberSql('list.value')}`);
  return (ids) => statement.all(idList(ids));
}

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

/** Blocks and the ids of their transfers. */
import { bytesToHex, type Hex, hexToBytes } from '../lib/hex.ts';
import type { BlockRef, IndexedBlock } from '../model/block.ts';
import { blockNumberSql, prepareBlockOfTransfer, prepareLastBlock, type Tip } from '../store/chain.ts';
import type { Db } from '../store/open-database.ts';
import { idList } from '../store/read/id-list.ts';
import type { WorkBudget } from './work-budget.ts';

/** SQL: `Head.hashPrefix` of the block in a row of `blocks`. */
export const BLOCK_HASH_PREFIX = 'lower(hex(substr(hash, 1, 8)))';

/** The hash prefix of the indexed block at a height; undefined without one. */
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

/** Ids of the transfers in blocks `first .. last`, inclusive. Either end may lie outside the index. */
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

/** The block in a record. */
interface BlockTime {
  number: number;
  /** Unix seconds. */
  timestamp: number;
}

/** The block of each listed transfer, in the order of the list. */
export function prepareBlocksOfTransfers(db: Db): (ids: readonly number[]) => BlockTime[] {
  const statement = db.prepare<[string], BlockTime>(/* sql */ `
    SELECT b.number, b.timestamp
    FROM json_each(?) list CROSS JOIN blocks b ON b.number = ${blockNumberSql('list.value')}`);
  return (ids) => statement.all(idList(ids));
}

/** Highest ids up to and including a block. */
export type LastIds = Pick<Tip, 'lastTransfer' | 'lastWallet'>;

/** The highest ids when `tip` was the last block; undefined when the index does not contain that exact block. */
export function prepareLastIdsAt(db: Db): (tip: BlockRef) => LastIds | undefined {
  const statement = db.prepare<[number, Uint8Array], LastIds>(/* sql */ `
    SELECT last_transfer AS lastTransfer, last_wallet AS lastWallet FROM blocks WHERE number = +? AND hash = +?`);
  return ({ number, hash }) => statement.get(number, hexToBytes(hash));
}

/** The highest ids up to and including a height. */
export function prepareLastIdsUpTo(db: Db): (number: number) => LastIds {
  const lastUpTo = prepareLastBlock(db);
  return (number) => lastUpTo(number) ?? { lastTransfer: 0, lastWallet: 0 };
}

/**
 * The numbers of the blocks of transfers in the order of the chain, as texts: rows would take several times as long.
 * Where the transfers are close, the blocks are read in turn.
 */
export function prepareBlockNumbers(db: Db): (ids: readonly number[]) => number[] {
  const blockOf = prepareBlockOfTransfer(db);
  const numbersOf = db
    .prepare<[string], string>(`SELECT group_concat(${blockNumberSql('list.value')}) FROM json_each(?) list`)
    .pluck();
  const endsOf = db
    .prepare<[number, number], string>(/* sql */ `
      SELECT group_concat(last_transfer)
      FROM (SELECT last_transfer FROM blocks WHERE number >= +? AND number <= +? ORDER BY number)`)
    .pluck();
  return (ids) => {
    const [start, end] = [ids[0], ids.at(-1)];
    if (start === undefined || end === undefined) return [];
    const [first, last] = [blockOf(start) ?? 0, blockOf(end) ?? 0];
    if (last - first > ids.length) return numbersOf.get(idList(ids))!.split(',').map(Number);
    const ends = endsOf.get(first, last)!.split(',').map(Number);
    let at = 0;
    return ids.map((id) => {
      while (ends[at]! < id) at++;
      return first + at;
    });
  };
}

/**
 * The last block all of whose transfers have ids below `id`, before the block of that transfer; undefined without one.
 */
export function prepareBlockBefore(db: Db): (id: number) => BlockRef | undefined {
  const statement = db.prepare<[number], { number: number; hash: Buffer }>(
    `SELECT number, hash FROM blocks WHERE number = ${blockNumberSql('+?')} - 1`,
  );
  return (id) => {
    const row = statement.get(id);
    return row && { number: row.number, hash: bytesToHex(row.hash) };
  };
}

/** An indexed block with the ids of its transfers. */
export interface IndexedBlockRow extends IndexedBlock {
  transfers: IdRange;
}

/** The indexed block at a height, undefined outside the index. */
export function prepareIndexedBlock(db: Db): (number: number) => IndexedBlockRow | undefined {
  const statement = db.prepare<
    [number],
    { hash: Buffer; timestamp: number; last: number; before: number | null }
  >(/* sql */ `
    SELECT b.hash, b.timestamp, b.last_transfer AS last, previous.last_transfer AS before
    FROM blocks b LEFT JOIN blocks previous ON previous.number = b.number - 1 WHERE b.number = +?`);
  return (number) => {
    const row = statement.get(number);
    if (row === undefined) return undefined;
    const transfers = { from: (row.before ?? 0) + 1, below: row.last + 1 };
    return { number, hash: bytesToHex(row.hash), timestamp: row.timestamp, transfers };
  };
}

/** How much an indexed block moved. */
export interface BlockActivity extends IndexedBlock {
  /** Those with transfers. */
  transactions: number;
  transfers: number;
}

/** The indexed blocks below a height, highest first. */
export function prepareBlockActivity(db: Db): (below: number, limit: number) => BlockActivity[] {
  const statement = db.prepare<[number, number], Omit<BlockActivity, 'hash'> & { hash: Buffer }>(/* sql */ `
    SELECT b.number, b.hash, b.timestamp,
      b.transactions - ifnull(previous.transactions, 0) AS transactions,
      b.last_transfer - ifnull(previous.last_transfer, 0) AS transfers
    FROM blocks b LEFT JOIN blocks previous ON previous.number = b.number - 1
    WHERE b.number < +? ORDER BY b.number DESC LIMIT +?`);
  return (below, limit) => statement.all(below, limit).map((row) => ({ ...row, hash: bytesToHex(row.hash) }));
}

/**
 * The ids of a transaction's transfers, searched within the ids of its block, which count as work; empty when it has
 * none.
 */
export function prepareTransferIdsOfTransaction(
  db: Db,
): (hash: Hex, block: IdRange, budget: WorkBudget) => IdRange {
  const first = db
    .prepare<[number, number, Uint8Array], number>(
      'SELECT id FROM transfers WHERE id >= +? AND id < +? AND tx = +?',
    )
    .pluck();
  const next = db
    .prepare<[number, number], number>(
      "SELECT id FROM transfers WHERE id > +? AND id < +? AND typeof(tx) = 'blob' ORDER BY id LIMIT 1",
    )
    .pluck();
  return (hash, { from, below }, budget) => {
    budget.spend(below - from);
    const start = first.get(from, below, hexToBytes(hash));
    if (start === undefined) return { from: below, below };
    return { from: start, below: next.get(start, below) ?? below };
  };
}

/** The indexed chain, and block reads shared by several directories. */
import { bytesToHex, type Hex } from '../lib/hex.ts';
import type { IndexedBlock } from '../model/block.ts';
import { type Db, oncePerConnection } from './open-database.ts';
import { ZERO_WALLET } from './schema.ts';

/** Prepared once: every query of SQL asks. */
const chainRow = oncePerConnection((db) =>
  db.prepare<[], { chain_id: number; start_block: number }>('SELECT chain_id, start_block FROM chain'),
);

/** The indexed chain and its first block, null until set. */
export function chainOf(db: Db): { chainId: number; startBlock: number } | null {
  const row = chainRow(db).get();
  return row ? { chainId: row.chain_id, startBlock: row.start_block } : null;
}

/** Sets the chain and the first block of the index. Call it before appending a block. */
export function setChain(db: Db, chainId: number, startBlock: number): void {
  db.prepare('REPLACE INTO chain (one, chain_id, start_block) VALUES (1, ?, ?)').run(chainId, startBlock);
}

/** An indexed block with the highest ids up to it. */
export interface Tip extends IndexedBlock, BlockEnd {}

/** What the index holds up to and including a block. */
export interface BlockEnd {
  /** Highest ids; 0 if none. */
  lastTransfer: number;
  lastWallet: number;
  /** Transactions with transfers. */
  transactions: number;
}

/** The end of the block before the first one. */
export const EMPTY_INDEX: BlockEnd = { lastTransfer: 0, lastWallet: ZERO_WALLET, transactions: 0 };

/** The last indexed block, or the last one at or below `upTo`; null while there is none. */
export function prepareLastBlock(db: Db): (upTo?: number) => Tip | null {
  const statement = db.prepare<[number], Omit<Tip, 'hash'> & { hash: Buffer }>(/* sql */ `
    SELECT number, hash, timestamp, last_transfer AS lastTransfer, last_wallet AS lastWallet, transactions
    FROM blocks WHERE number <= +? ORDER BY number DESC LIMIT 1`);
  return (upTo = Number.MAX_SAFE_INTEGER) => {
    const row = statement.get(upTo);
    return row === undefined ? null : { ...row, hash: bytesToHex(row.hash) };
  };
}

/** `prepareLastBlock` for a single read. */
export function readLastBlock(db: Db, upTo?: number): Tip | null {
  return prepareLastBlock(db)(upTo);
}

/** Hash of an indexed block, or null when it is not in the index. */
export function hashAt(db: Db, number: number): Hex | null {
  const hash = db.prepare<[number], Buffer>('SELECT hash FROM blocks WHERE number = ?').pluck().get(number);
  return hash ? bytesToHex(hash) : null;
}

/**
 * SQL: the number of the block that holds the transfer whose id is the expression `id`: the lowest one whose
 * last_transfer reaches it.
 */
export function blockNumberSql(id: string): string {
  return /* sql */ `(SELECT number FROM blocks WHERE last_transfer >= ${id} ORDER BY last_transfer, number LIMIT 1)`;
}

/** SQL: the last transfer of that block. */
export function blockEndSql(id: string): string {
  return /* sql */ `(SELECT last_transfer FROM blocks WHERE last_transfer >= ${id} ORDER BY last_transfer LIMIT 1)`;
}

/** Prepares the lookup of the block that contains a transfer: its number, null when none does. */
export function prepareBlockOfTransfer(db: Db): (id: number) => number | null {
  const statement = db.prepare<[number], number | null>(`SELECT ${blockNumberSql('?')}`).pluck();
  return (id) => statement.get(id) ?? null;
}

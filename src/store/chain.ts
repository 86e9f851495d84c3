/** The indexed chain, what identifies it (table `chain_anchors`), and block reads that several folders share. */
import { bytesToHex, type Hex, hexToBytes } from '../lib/hex.ts';
import type { IndexedBlock } from '../model/block.ts';
import type { Db, Statement } from './open-database.ts';
import { ZERO_WALLET } from './schema.ts';

/** The indexed chain and its first block, null until set. */
export function chainOf(db: Db): { chainId: number; startBlock: number } | null {
  const row = db
    .prepare<[], { chain_id: number; start_block: number }>('SELECT chain_id, start_block FROM chain')
    .get();
  return row ? { chainId: row.chain_id, startBlock: row.start_block } : null;
}

/** Sets the chain and the first block of the index. Call it before appending any block. */
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

/** The number of the block that contains a transfer, null when none does. */
export function blockOfTransfer(db: Db, id: number): number | null {
  return (
    db
      .prepare<[number], number | null>(`SELECT ${blockNumberSql('?')}`)
      .pluck()
      .get(id) ?? null
  );
}

export interface ChainAnchors {
  /** Hash of block 0, null until a node provides it. */
  genesis: Hex | null;
  /** Parent hash of the first indexed block, null until that block is stored. */
  firstParent: Hex | null;
  /** Highest indexed block that a node called finalized. */
  finalized: number | null;
  /** The index's head when its last reorg began. Bounds the reorg until the index is back at that height. */
  reorgFrom: number | null;
}

interface AnchorRow {
  genesis: Buffer | null;
  firstParent: Buffer | null;
  finalized: number | null;
  reorgFrom: number | null;
}

export class AnchorTable {
  private readonly select: Statement<[], AnchorRow>;
  private readonly updates: Record<'genesis' | 'first_parent' | 'finalized' | 'reorg_from', Statement>;
  private readonly lowerFinalized: Statement;

  constructor(db: Db) {
    this.select = db.prepare(/* sql */ `
      SELECT genesis, first_parent AS firstParent, finalized, reorg_from AS reorgFrom FROM chain_anchors`);
    const update = (column: string): Statement =>
      db.prepare(/* sql */ `
        INSERT INTO chain_anchors (one, ${column}) VALUES (1, ?)
        ON CONFLICT DO UPDATE SET ${column} = excluded.${column}`);
    this.updates = {
      genesis: update('genesis'),
      first_parent: update('first_parent'),
      finalized: update('finalized'),
      reorg_from: update('reorg_from'),
    };
    this.lowerFinalized = db.prepare('UPDATE chain_anchors SET finalized = ? WHERE finalized > ?');
  }

  read(): ChainAnchors {
    const row = this.select.get();
    const hex = (hash: Buffer | null | undefined): Hex | null => (hash ? bytesToHex(hash) : null);
    return {
      genesis: hex(row?.genesis),
      firstParent: hex(row?.firstParent),
      finalized: row?.finalized ?? null,
      reorgFrom: row?.reorgFrom ?? null,
    };
  }

  setGenesis(hash: Hex | null): void {
    this.updates.genesis.run(hash && hexToBytes(hash));
  }

  setFirstParent(hash: Uint8Array): void {
    this.updates.first_parent.run(hash);
  }

  setFinalized(number: number): void {
    this.updates.finalized.run(number);
  }

  setReorgFrom(number: number | null): void {
    this.updates.reorg_from.run(number);
  }

  /** Writes the anchors of another file of the same index, which ends with block `head` here. */
  restore({ genesis, firstParent, finalized, reorgFrom }: ChainAnchors, head: number): void {
    if (genesis !== null) this.setGenesis(genesis);
    if (firstParent !== null) this.setFirstParent(hexToBytes(firstParent));
    if (finalized !== null) this.setFinalized(Math.min(finalized, head));
    this.setReorgFrom(reorgFrom);
  }

  /** Lowers the finalized block: a repair may remove finalized blocks. */
  rollback(to: number): void {
    this.lowerFinalized.run(to, to);
  }
}

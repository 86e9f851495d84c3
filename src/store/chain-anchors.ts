/** The identity of the indexed chain and the bounds of its reorgs: the row of `chain_anchors`. */
import { bytesToHex, type Hex, hexToBytes } from '../lib/hex.ts';
import { finalizedAfterRollback } from '../model/finality.ts';
import { rowChecksum } from './checksum.ts';
import type { Db, Statement } from './open-database.ts';

export interface ChainAnchors {
  /** Hash of block 0, null until a node provides it. */
  genesis: Hex | null;
  /** Parent hash of the first indexed block, null until that block is stored. */
  firstParent: Hex | null;
  /** Highest indexed block that a node proved final, null where none did (model/finality.ts). */
  finalized: number | null;
  /** The index's head when its last reorg began. Bounds the reorg until the index is back at that height. */
  reorgFrom: number | null;
}

interface AnchorRow {
  genesis: Uint8Array | null;
  firstParent: Uint8Array | null;
  finalized: number | null;
  reorgFrom: number | null;
}

const NO_ANCHORS: AnchorRow = { genesis: null, firstParent: null, finalized: null, reorgFrom: null };

export class AnchorTable {
  private readonly select: Statement<[], AnchorRow & { checksum: number }>;
  private readonly replace: Statement;

  constructor(db: Db) {
    this.select = db.prepare(/* sql */ `
      SELECT genesis, first_parent AS firstParent, finalized, reorg_from AS reorgFrom, checksum
      FROM chain_anchors`);
    this.replace = db.prepare(/* sql */ `
      REPLACE INTO chain_anchors (one, genesis, first_parent, finalized, reorg_from, checksum)
      VALUES (1, ?, ?, ?, ?, ?)`);
  }

  read(): ChainAnchors {
    const { genesis, firstParent, finalized, reorgFrom } = this.select.get() ?? NO_ANCHORS;
    const hex = (hash: Uint8Array | null): Hex | null => hash && bytesToHex(hash);
    return { genesis: hex(genesis), firstParent: hex(firstParent), finalized, reorgFrom };
  }

  /** Whether the row matches its checksum. A missing row does. */
  isWhole(): boolean {
    const row = this.select.get();
    return row === undefined || row.checksum === checksumOf(row);
  }

  setGenesis(hash: Hex | null): void {
    this.update({ genesis: hash && hexToBytes(hash) });
  }

  setFirstParent(hash: Uint8Array): void {
    this.update({ firstParent: hash });
  }

  setFinalized(number: number | null): void {
    this.update({ finalized: number });
  }

  setReorgFrom(number: number | null): void {
    this.update({ reorgFrom: number });
  }

  /** Lowers the anchor of finality if the index now ends below it. */
  rollback(to: number): void {
    const { finalized } = this.read();
    const left = finalizedAfterRollback(finalized, to);
    if (left !== finalized) this.update({ finalized: left });
  }

  /** Replaces all anchors, even damaged ones, and writes a valid checksum. */
  set({ genesis, firstParent, finalized, reorgFrom }: ChainAnchors): void {
    const bytes = (hash: Hex | null): Uint8Array | null => hash && hexToBytes(hash);
    const row = { genesis: bytes(genesis), firstParent: bytes(firstParent), finalized, reorgFrom };
    this.write(row, checksumOf(row));
  }

  /** Keeps a wrong checksum wrong: a write must not hide damage to another column. */
  private update(change: Partial<AnchorRow>): void {
    const row = { ...NO_ANCHORS, ...this.select.get(), ...change };
    const checksum = checksumOf(row);
    this.write(row, this.isWhole() ? checksum : ~checksum);
  }

  private write({ genesis, firstParent, finalized, reorgFrom }: AnchorRow, checksum: number): void {
    this.replace.run(genesis, firstParent, finalized, reorgFrom, checksum);
  }
}

/** Columns in the order of CHECKED_TABLES. */
function checksumOf({ genesis, firstParent, finalized, reorgFrom }: AnchorRow): number {
  return rowChecksum(1, genesis, firstParent, finalized, reorgFrom);
}

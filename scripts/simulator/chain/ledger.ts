import type { Hex } from '../../../src/lib/hex.ts';

/** The position of the transaction being built. */
export interface Position {
  block: number;
  txHash: Hex;
  txIndex: number;
  /** Index in the block of the transaction's first log. */
  firstLogIndex: number;
}

/** One transfer as the decoder must find it. */
export interface TransferRow {
  block: number;
  hash: Hex;
  kind: 'native' | 'internal' | 'erc20' | 'erc721' | 'erc1155';
  from: Hex;
  to: Hex;
  amount: bigint;
  /** Of tokens only. */
  token?: Hex;
  logIndex?: number;
  /** Not for ERC-20. */
  tokenId?: bigint;
  /** Only for the rows of an ERC-1155 batch. */
  batchIndex?: number;
}

export class Ledger {
  position: Position = { block: 0, txHash: '0x', txIndex: 0, firstLogIndex: 0 };
  private rows: TransferRow[] = [];

  /** Native currency or tokens moved. The zero address on one side is a mint or a burn. */
  book(transfer: Omit<TransferRow, 'block' | 'hash'>): void {
    const { block, txHash } = this.position;
    this.rows.push({ block, hash: txHash, ...transfer });
  }

  /** The transfers booked since the last call, in chain order. */
  takeRows(): TransferRow[] {
    const rows = this.rows;
    this.rows = [];
    return rows;
  }
}

/** What the ledger keeps about positions, wallets, tokens and transfers. */
import type { Hex } from '../../types.ts';

/** The position of the transaction being built. */
export interface Position {
  block: number;
  /** Unix seconds. */
  timestamp: number;
  txHash: Hex;
  txIndex: number;
  /** Index in the block of the transaction's first log. */
  firstLogIndex: number;
}

/** A native transfer into a wallet from another account. */
export interface Funding {
  funder: Hex;
  amountWei: string;
  txHash: Hex;
  block: number;
}

export interface WalletFacts {
  inDirect: bigint;
  inInternal: bigint;
  outDirect: bigint;
  outInternal: bigint;
  nativeIn: number;
  nativeOut: number;
  sent: number;
  tokens: Set<Hex>;
  firstDirect: Funding | null;
  firstInternal: Funding | null;
  latestDirect: Funding | null;
  latestInternal: Funding | null;
}

export interface Receiver {
  address: Hex;
  firstSeenBlock: number;
  firstSeenTimestamp: number;
  transferCount: number;
}

export type NativeKind = 'native' | 'internal';
export type TokenKind = 'erc20' | 'erc721' | 'erc1155';

export interface TokenFacts {
  kind: TokenKind;
  rows: number;
  /** Senders and receivers but the zero address. */
  wallets: Set<Hex>;
  balances: Map<Hex, bigint>;
  firstBlock: number;
  firstTimestamp: number;
  /** In order of the first receipt. */
  receivers: Map<Hex, Receiver>;
}

/** One transfer as the decoder must find it; the order of the fields is that of the written file. */
export interface TransferRow {
  block: number;
  tx: number;
  hash: Hex;
  logIndex?: number;
  kind: NativeKind | TokenKind;
  token?: Hex;
  from: Hex;
  to: Hex;
  tokenId?: string;
  amount: string;
  batchIndex?: number;
}

export interface WhaleTransfer {
  block: number;
  txHash: Hex;
  kind: NativeKind;
  from: Hex;
  to: Hex;
  amountWei: string;
}

export interface TokenMove {
  kind: TokenKind;
  token: Hex;
  from: Hex;
  to: Hex;
  amount: bigint;
  logIndex: number;
  /** Not for ERC-20. */
  tokenId?: bigint;
  /** Only for the rows of an ERC-1155 batch. */
  batchIndex?: number;
}

/** A wallet nothing has happened to. */
export function emptyWallet(): WalletFacts {
  return {
    inDirect: 0n,
    inInternal: 0n,
    outDirect: 0n,
    outInternal: 0n,
    nativeIn: 0,
    nativeOut: 0,
    sent: 0,
    tokens: new Set(),
    firstDirect: null,
    firstInternal: null,
    latestDirect: null,
    latestInternal: null,
  };
}

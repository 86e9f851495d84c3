/** The form of the expected results. Amounts are decimal strings; the order of the fields is that of the written file. */
import type { Hex } from '../../types.ts';
import type { Counts } from './counts.ts';
import type { Funding, NativeKind, Receiver, TokenKind, WhaleTransfer } from './facts.ts';
import type { ChainOptions } from './options.ts';

export interface ExpectedToken {
  token: Hex;
  standard: TokenKind;
  transferRows: number;
  holdersWithPositiveBalance: number;
  uniqueWalletsExcludingZero: number;
  firstSeenBlock: number;
  firstSeenTimestamp: number;
  /** The 20 largest, by balance descending, then address. */
  topHolders: { address: Hex; balance: string }[];
  /** The first 20, in chain order. */
  firstReceivers: Receiver[];
}

export interface ExpectedWallet {
  address: Hex;
  nativeInWei: string;
  nativeOutWei: string;
  nativeInDirectWei: string;
  nativeInInternalWei: string;
  nativeOutDirectWei: string;
  nativeOutInternalWei: string;
  nativeTransfersIn: number;
  nativeTransfersOut: number;
  transactionsSent: number;
  uniqueTokens: number;
  firstDirectFunding: Funding | null;
  firstInternalFunding: Funding | null;
  latestNativeIn: (Funding & { kind: NativeKind }) | null;
}

export interface FundingHop {
  /** 1 for the wallet asked about. */
  hop: number;
  funded: Hex;
  funder: Hex;
  amountWei: string;
  txHash: Hex;
  block: number;
  source: 'direct' | 'internal';
}

export interface ExpectedFundingChain {
  address: Hex;
  hops: FundingHop[];
}

export interface ExpectedCoordination {
  funder: Hex;
  /** How many wallets it funded first. */
  wallets: number;
  first20: { address: Hex; amountWei: string; txHash: Hex; block: number }[];
}

export interface ExpectedResults {
  generator: string;
  options: ChainOptions;
  rules: readonly string[];
  counts: { blocks: number } & Counts;
  firstBlock: number;
  lastBlock: number;
  distinctTokens: Record<TokenKind, number>;
  tokens: ExpectedToken[];
  hugeToken: Hex;
  wallets: ExpectedWallet[];
  fundingChains: ExpectedFundingChain[];
  coordinated: ExpectedCoordination[];
  largestNative: WhaleTransfer[];
  nativeTransfersOfAtLeast1000: number;
  walletsSeen: number;
  uncompressedBytes: number;
}

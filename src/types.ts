/** A `0x`-prefixed lower-case hex string. */
export type Hex = `0x${string}`;

/** The five kinds of transfer, as packed into `transfers.token_kind` (store/schema.ts). */
export const TransferKind = {
  nativeDirect: 0,
  erc20: 1,
  nativeInternal: 2,
  erc721: 3,
  erc1155: 4,
} as const;
export type TransferKind = (typeof TransferKind)[keyof typeof TransferKind];

/** The public name of each kind, indexed by its number (REST `transferType`). */
export const TRANSFER_KIND_NAMES = [
  'native_direct',
  'erc20',
  'native_internal',
  'erc721',
  'erc1155',
] as const;
export type TransferKindName = (typeof TRANSFER_KIND_NAMES)[number];

/** Native transfers are the kinds that carry no token. */
export function isNativeKind(kind: number): boolean {
  return kind === TransferKind.nativeDirect || kind === TransferKind.nativeInternal;
}

/** A point of the chain: a height and the hash of its block. */
export interface BlockRef {
  number: number;
  hash: Hex;
}

/** A block of the index, with its time. */
export interface IndexedBlock extends BlockRef {
  /** Unix seconds. */
  timestamp: number;
}

/** Blocks whose commit begins, announced to the serving thread so that what it pushes of them is ready in time. */
export interface CommittingBlocks {
  /** Consecutive, as decoded. */
  batches: readonly BlockBatch[];
  /** The id that their first transfer will get; the others get the following ones. */
  firstTransfer: number;
}

/** The writer's message to the serving thread about committed blocks: never rows, only how far they are committed. */
export type Watermark =
  /** `committedAt` is in Unix milliseconds, with their fractions. */
  | { kind: 'committed'; from: number; to: number; hash: Hex; timestamp: number; committedAt: number }
  /** `hash` is that of block `to`, null when the index has no block left. */
  | { kind: 'rolled-back'; to: number; hash: Hex | null };

/** What the index can and cannot know with this node; shown by `/status`. */
export interface Capabilities {
  client: string;
  chainId: number;
  /** Source of internal native transfers; when null, `tracesReason` says why. */
  traces: 'debug_traceBlockByHash' | 'debug_traceBlockByNumber' | 'trace_block' | null;
  tracesReason: string | null;
  blockReceipts: boolean;
  /** Which block the index follows: `finalized` never rolls back, `latest` may. */
  headTag: 'finalized' | 'latest';
}

/** The blocks that were indexed without traces and so lack their internal transfers. */
export interface UntracedBlocks {
  /** The first and the last of them; blocks in between may have traces. */
  first: number;
  last: number;
  /** How many. */
  blocks: number;
}

/** The state of the indexer as the writer thread last reported it. */
export interface IndexStatus {
  /** starting: no node answer yet; filling: far behind the head; following: at the head; paused: see `reason`. */
  phase: 'starting' | 'filling' | 'following' | 'paused';
  /** Why the indexer makes no progress (node unreachable, disk full, ...), or null. */
  reason: string | null;
  startBlock: number | null;
  /** Last committed block, null while the index is empty. */
  head: BlockRef | null;
  headTimestamp: number | null;
  /** The node's own head for the followed tag, null while unknown. */
  nodeHead: number | null;
  /** Rates over the last ten seconds. */
  blocksPerSecond: number;
  transfersPerSecond: number;
  /** Transfers in the index. */
  transfers: number;
  capabilities: Capabilities | null;
  /** Blocks that lack their internal transfers, null when there are none. */
  untraced: UntracedBlocks | null;
  /** Malformed logs skipped since start, by reason. */
  skippedLogs: Record<string, number>;
  reorgs: number;
  deepestReorg: number;
  /** Unix milliseconds of the last commit, null before the first. */
  lastCommitAt: number | null;
}

/** What the index file contains, as of the last survey (store/survey.ts). */
export interface IndexSurvey {
  /** Unix milliseconds. */
  at: number;
  /** How long it took. */
  seconds: number;
  /** Last block at the time, null for an empty index, and the transfers up to it. */
  head: number | null;
  transfers: number;
  /** index.db including pages still in its write-ahead log, the log itself, and the free disk space for this user. */
  fileBytes: number;
  walBytes: number;
  freeBytes: number;
  /** Bytes of each table with its indexes, largest first. */
  tables: { name: string; bytes: number }[];
  /** Tables too large to walk within the time limit, and the remaining bytes of the file for all of them. */
  unmeasured: { names: string[]; bytes: number } | null;
  /** `estimated`: scaled up from a sample. */
  kinds: { estimated: boolean; transfers: Record<TransferKindName, number> };
  /** By the chain's clock over the last `seconds`: a day, or what the index covers; null if that is too little. */
  growth: { transfersPerDay: number; transfersPerBlock: number; seconds: number } | null;
}

export interface SurveyState {
  /** Null until the first survey is done. */
  latest: IndexSurvey | null;
  /** Why the last survey failed, or null. */
  failure: string | null;
}

/** One open WebSocket, as the streams know it. */
export interface LiveSocket {
  endpoint: '/ws' | '/ws/signals';
  keyId: number;
  /** Unix milliseconds. */
  openedAt: number;
  /** Topic of each subscription, such as `newHeads` or `wallet_transfers`. */
  topics: readonly string[];
  /** Bytes that the client has not read yet. */
  backlogBytes: number;
}

/** Why a log with a transfer's first topic was not decoded as a transfer (metric label). */
export type SkipReason =
  | 'transfer_topics'
  | 'transfer_data'
  | 'single_shape'
  | 'batch_shape'
  | 'consecutive_shape'
  | 'consecutive_range'
  | 'wrapped_shape'
  | 'staking_shape'
  | 'dirty_address';

/**
 * Decoded transfers of a run of consecutive blocks, as columns of numbers and bytes.
 *
 * Columns rather than objects: a batch of 200,000 transfers is a dozen array buffers that move between threads
 * without copying, and the store walks them without touching the garbage collector.
 */
export interface BlockBatch {
  /** Whether traces were read for every block that needs them; else internal transfers are missing. */
  traced: boolean;
  blockCount: number;
  transferCount: number;
  /** Per block. */
  number: Uint32Array;
  /** Unix seconds; 64 bits, since a chain's time may be set to any value. */
  timestamp: Float64Array;
  /** Hash and parent hash, 32 bytes each per block. */
  hash: Uint8Array;
  parent: Uint8Array;
  /** Number of transfers, and of distinct addresses, up to and including each block. */
  transferEnd: Uint32Array;
  addressEnd: Uint32Array;
  /** 20 bytes per distinct address, in the order of first appearance: sender, receiver, token of each transfer. */
  addresses: Uint8Array;
  /** 32 bytes per transaction that has a transfer. */
  txHashes: Uint8Array;
  /** Per transfer. `tx` indexes txHashes; `from`, `to`, `token` index addresses; -1 is "none". */
  kind: Uint8Array;
  tx: Uint32Array;
  from: Uint32Array;
  to: Uint32Array;
  token: Int32Array;
  logIndex: Int32Array;
  /** End offsets of each transfer's amount and token id in the byte columns; an amount of zero has no bytes. */
  amountEnd: Uint32Array;
  amounts: Uint8Array;
  tokenNumberEnd: Uint32Array;
  tokenNumbers: Uint8Array;
  skipped: Partial<Record<SkipReason, number>>;
}

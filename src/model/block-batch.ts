/**
 * Decoded transfers on their way from the decoder to the store, and what the indexer reports of them once committed.
 */

import type { Hex } from '../lib/hex.ts';
import type { BlockGap, UnsettledGap } from './block-gap.ts';

/** Why a log with the first topic of a transfer, or a payment in a trace, was not decoded (metric label). */
export type SkipReason =
  | 'transfer_topics'
  /** One indexed address, which may be either side. */
  | 'transfer_one_indexed'
  | 'transfer_data'
  | 'single_shape'
  | 'batch_shape'
  | 'consecutive_shape'
  | 'consecutive_range'
  | 'wrapped_shape'
  | 'staking_shape'
  | 'dirty_address'
  /** Frames of a trace, whose block then lacks an internal transfer. */
  | 'selfdestruct_shape'
  | 'frame_type';

/** How many logs of a block, or payments in its traces, were not decoded for one reason: of a contract, and in all. */
export interface SkippedLogs {
  block: number;
  reason: SkipReason;
  /** Lower-case `0x` text; null for the sum, which includes payments. */
  contract: Hex | null;
  logs: number;
  /** Hash of the transaction with the first of them. */
  txHash: Hex;
}

/**
 * Decoded transfers of consecutive blocks, as columns of numbers and bytes.
 *
 * Columns instead of objects: a batch of 200,000 transfers is a dozen array buffers that move between threads without
 * copying, and the store iterates over them without garbage collection.
 */
export interface BlockBatch {
  /** The blocks of the batch of which transfers are missing, in order. */
  gaps: readonly BlockGap[];
  /** Of a batch of one block, while its gap is not settled: do not store it. */
  unsettled: UnsettledGap | null;
  /** A block whose traces the node gave, null if there is none. */
  tracedBlock: number | null;
  /** Contracts that logged `Upgraded`, at most some hundred. Anyone can log it. */
  upgraded: readonly Hex[];
  /** Number of blocks whose logs restart or repeat their numbers. */
  renumbered: number;
  blockCount: number;
  transferCount: number;
  /** Per block. */
  number: Uint32Array;
  /** Unix seconds; 64 bits, because a chain may set its time to any value. */
  timestamp: Float64Array;
  /** Hash and parent hash, 32 bytes each per block. */
  hash: Uint8Array;
  parent: Uint8Array;
  /** Number of transfers and of distinct addresses up to and including each block. */
  transferEnd: Uint32Array;
  addressEnd: Uint32Array;
  /** 20 bytes per distinct address, in order of first appearance: sender, receiver, token of each transfer. */
  addresses: Uint8Array;
  /** 32 bytes per transaction with a transfer. */
  txHashes: Uint8Array;
  /**
   * 20 bytes each per transaction in `txHashes`: its sender, and its receiver or the contract it created;
   * `namesParties` tells whether they are known. Both are empty in a batch that was not built from the node's
   * transactions.
   */
  txFrom: Uint8Array;
  txTo: Uint8Array;
  /** Per transfer. `tx` indexes txHashes; `from`, `to` and `token` index addresses; -1 means none. */
  kind: Uint8Array;
  tx: Uint32Array;
  from: Uint32Array;
  to: Uint32Array;
  token: Int32Array;
  logIndex: Int32Array;
  /** End offsets of each transfer's amount and token id in the byte columns. A zero amount has no bytes. */
  amountEnd: Uint32Array;
  amounts: Uint8Array;
  tokenNumberEnd: Uint32Array;
  tokenNumbers: Uint8Array;
  /** What was not decoded, in chain order. */
  skipped: readonly SkippedLogs[];
}

/** Value `i` of concatenated values, given the end offset of each. A view, not a copy. */
export function packedValue(bytes: Uint8Array, ends: Uint32Array, i: number): Uint8Array {
  return bytes.subarray(i === 0 ? 0 : ends[i - 1], ends[i]);
}

/** Hash `i` of concatenated hashes. A view, not a copy. */
export function packedHash(hashes: Uint8Array, i: number): Uint8Array {
  return hashes.subarray(i * 32, i * 32 + 32);
}

/**
 * Whether a batch names sender and receiver of transaction `tx`. The zero address stands for a missing one: of a
 * receipt that belongs to no transaction, or of a node that leaves it out. Value sent to that address names it by its
 * transfer.
 */
export function namesParties({ txFrom, txTo }: BlockBatch, tx: number): boolean {
  return isAddressAt(txFrom, tx) && isAddressAt(txTo, tx);
}

/** Whether address `i` of concatenated ones is there, and not zero. */
function isAddressAt(addresses: Uint8Array, i: number): boolean {
  for (let at = i * 20; at < i * 20 + 20; at++) if ((addresses[at] ?? 0) !== 0) return true;
  return false;
}

/** Blocks about to be committed. Meanwhile the serving thread prepares their notifications. */
export interface CommittingBlocks {
  /** Consecutive batches, as decoded. */
  batches: readonly BlockBatch[];
  /** The id that their first transfer will get; the others follow. */
  firstTransfer: number;
}

/** How far the index is committed. */
export type Watermark =
  /** `committedAt`: Unix milliseconds with a fraction. */
  | { kind: 'committed'; from: number; to: number; hash: Hex; timestamp: number; committedAt: number }
  /** `hash` of block `to`; null when the index has no blocks left. */
  | { kind: 'rolled-back'; to: number; hash: Hex | null };

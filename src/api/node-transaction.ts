/** A transaction as the node reports it, bounded, with null for what the node leaves out. */
import type { Hex } from '../lib/hex.ts';
import type { BlockRef } from '../model/block.ts';

export const TRANSACTION_STATUSES = ['succeeded', 'failed', 'pending', 'unknown'] as const;

/** Amounts are integers as decimal text. */
export interface NodeTransaction {
  /** `unknown`: in a block, but the node does not say how it ended. */
  status: (typeof TRANSACTION_STATUSES)[number];
  block: BlockRef | null;
  /** Unix seconds of its block. */
  timestamp: number | null;
  from: Hex | null;
  to: Hex | null;
  createdContract: Hex | null;
  value: string | null;
  nonce: number | null;
  type: number | null;
  gasLimit: string | null;
  gasUsed: string | null;
  /** What it paid per gas; what it offers while it is pending. */
  gasPrice: string | null;
  maxFeePerGas: string | null;
  maxPriorityFeePerGas: string | null;
  /** What a rollup of the OP stack took beside its gas. */
  l1Fee: string | null;
  input: NodeData;
  /** Null without a receipt. */
  logs: NodeLogs | null;
  /** How it failed, of a failed one. */
  replay: NodeReplay | null;
}

/** Hex in lower case, cut. */
export interface NodeData {
  hex: Hex;
  /** Its whole length. */
  bytes: number;
}

export interface NodeLog {
  logIndex: number | null;
  address: Hex;
  topics: Hex[];
  data: NodeData;
}

/** The first of the logs, and how many there are. */
export interface NodeLogs {
  first: NodeLog[];
  count: number;
}

/** What a failed transaction did when the node ran it again on the state before its block. */
export interface NodeReplay {
  /** What it returned; null where the node does not say. */
  data: NodeData | null;
  /** How the node words it; null where it did not fail, or was not run. */
  words: string | null;
  /** Why it is not known how it failed. */
  problem: string | null;
}

/** Bounds of what is kept of a transaction. */
export const KEPT = { inputBytes: 128 * 1024, logs: 200, logBytes: 16 * 1024, returnedBytes: 16 * 1024 };

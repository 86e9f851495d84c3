/** Messages between the serving thread and the writer thread, and between the writer and its helper threads. */

import type { UpstreamFailure } from '../lib/errors.ts';
import type { BlockBatch } from '../model/block-batch.ts';
import type { IndexStatus } from '../model/index-status.ts';
import type { CommittingBlocks, Watermark } from '../model/watermark.ts';
import type { LoadRules } from './backfill/load-blocks.ts';

/** Everything the writer needs, fixed for its life. */
export interface IndexerThreadOptions {
  indexPath: string;
  node: { http: string; ws: string; timeoutMs: number; maxSockets: number; maxBatch: number };
  index: {
    startBlock: number | 'earliest' | 'latest';
    head: 'auto' | 'finalized' | 'latest';
    traces: boolean;
    /** Compare what the node sends with the roots in the headers. */
    checkRoots: boolean;
    /** Milliseconds between polls of the node's head while none is announced. */
    pollMs: number;
    /** Most blocks that one reorg may take off the index. */
    maxReorg: number;
    /** Blocks behind the node's head that still count as following it. */
    readyLag: number;
    /** About how many transfers a commit has while filling. */
    batchTransfers: number;
    /** Threads that fetch and decode while filling, at least one. */
    loaders: number;
    cacheMb: number;
  };
  /** Wrapped native contracts beyond those known for the chain. */
  wrappedNative: readonly string[];
}

export type ToIndexer = { kind: 'stop' };

export type FromIndexer =
  /** Comes before the watermark of the same blocks, and only for few transfers; the commit may still fail. */
  | { kind: 'committing'; blocks: CommittingBlocks }
  | { kind: 'watermark'; watermark: Watermark }
  | { kind: 'status'; status: IndexStatus; delta: MetricsDelta }
  | { kind: 'log'; level: 'info' | 'warn' | 'error'; msg: string; fields: Record<string, unknown> }
  /** Background work has met damage in the index. */
  | { kind: 'unreadable'; message: string }
  /** The writer cannot go on; it has closed the index. */
  | { kind: 'fatal'; message: string }
  | { kind: 'stopped' };

/** Sends a message from the writer thread to the serving thread. */
export type Send = (message: FromIndexer) => void;

/** What the writer did since it last reported, for the metrics. */
export interface MetricsDelta {
  blocks: number;
  /** Transfers stored, by TransferKind. */
  transfers: number[];
  skippedLogs: Record<string, number>;
  /** Depth of each rollback. */
  rollbacks: number[];
  /** Seconds of each commit. */
  commitSeconds: number[];
  calls: UpstreamCall[];
}

/** One call to the node. */
export interface UpstreamCall {
  method: string;
  seconds: number;
  failure: UpstreamFailure | null;
}

export interface BackfillWorkerOptions {
  node: IndexerThreadOptions['node'];
  rules: LoadRules;
}

/** Blocks `from` to `to`, both included, to be loaded. */
export interface RangeRequest {
  id: number;
  from: number;
  to: number;
}

/** `cancel` takes back a range that is not begun yet; the worker still answers it. */
export type ToBackfillWorker = RangeRequest | { cancel: number } | 'stop';

export type FromBackfillWorker =
  | { id: number; batch: BlockBatch; calls: UpstreamCall[] }
  | {
      id: number;
      error: { reason: UpstreamFailure; message: string };
      calls: UpstreamCall[];
    }
  | { id: number; cancelled: true }
  /** Any other error: a defect, which stops the writer. */
  | { id: number; defect: string };

export type ToCheckpointer = 'checkpoint' | 'stop';

/** The log has been moved into the file, as far as readers and the disk allowed. */
export type FromCheckpointer = 'checkpointed';
